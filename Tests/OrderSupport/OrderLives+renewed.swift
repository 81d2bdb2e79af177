import AppStorePayloads
import Base

/// What renews itself.
extension OrderLives {
    private static let lengths: [String: Int64] = [
        "basic": 30, "premium": 30, "yearly": 365, "mystery": 30, "weekly": 7,
    ]
    /// After it nothing new is bought.
    private static let limit = Timestamp(millisecondsSince1970: 1_748_736_000_000)

    private mutating func otherProduct(than product: String?) -> String {
        pick(Self.lengths.keys.sorted().filter { $0 != product })
    }

    private mutating func period(
        of line: String, first: Timestamp, _ product: String, at start: Timestamp,
        _ reason: TransactionReason = .purchase,
        days: Int64? = nil
    ) -> Thing {
        let id = start == first ? line : newID()
        var record = transaction(
            of: line, id: id, product, .autoRenewableSubscription, at: start, days: days ?? Self.lengths[product] ?? 30)
        record.originalPurchaseDate = first
        record.transactionReason = reason
        if chance(4) {
            (record.price, record.currency, record.offerType, record.offerDiscountType) = (
                0, region.0, .code, .payUpFront
            )
        }
        return Thing(record: record, signed: .distantPast)
    }

    /// A subscription with all that customers do.
    mutating func subscribe() {
        let (line, first) = (newID(), beginning())
        let isShared = chance(10)
        var periods: [Thing] = []
        var current = start(line, first)
        share(&current, isShared)
        report(&current, at: first.adding(seconds: between(0, 60)))
        for _ in 0..<pick([0, 1, 2, 3, 4, 6, 8]) {
            guard let start = current.record.purchaseDate, let end = current.record.expiresDate, end < Self.limit else {
                break
            }
            let product = current.record.productId ?? ""
            var next: Thing
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<38:
                next = period(of: line, first: first, product, at: end, .renewal)
                report(&next, at: end.adding(seconds: pick([0, 7, Self.hour, -60, -between(1, 23 * Self.hour)])))
            case 38..<48:
                next = period(
                    of: line, first: first, product, at: end.adding(seconds: between(60, 59 * Self.day)), .renewal)
                report(&next, at: (next.record.purchaseDate ?? end).adding(seconds: 5))
            case 48..<60:
                let again = chance(50) ? product : otherProduct(than: product)
                next = period(of: line, first: first, again, at: end.adding(seconds: between(Self.day, 300 * Self.day)))
                report(&next, at: (next.record.purchaseDate ?? end).adding(seconds: 5))
            case 60..<74:
                let middle = start.adding(seconds: between(Self.hour, 4 * Self.day))
                next = period(of: line, first: first, otherProduct(than: product), at: middle)
                report(&next, at: middle.adding(seconds: 3))
                upgrade(&current, at: middle)
            case 74..<84:
                next = period(of: line, first: first, otherProduct(than: product), at: end, .renewal)
                report(&next, at: end.adding(seconds: pick([0, 7, -between(1, 23 * Self.hour)])))
            case 84..<93:
                var ahead = period(of: line, first: first, product, at: end, .renewal)
                share(&ahead, isShared)
                let hours = between(2, 22)
                let bought = end.adding(seconds: -hours * Self.hour + between(600, Self.hour))
                if chance(70) {
                    report(&ahead, at: end.adding(seconds: -hours * Self.hour))
                } else {
                    ahead.record.isUpgraded = true
                    report(&ahead, at: bought.adding(seconds: 60))
                }
                next = period(of: line, first: first, otherProduct(than: product), at: bought)
                report(&next, at: bought.adding(seconds: 3))
                periods.append(ahead)
                upgrade(&current, at: bought)
            default:
                let signed = start.adding(seconds: between(Self.hour, 2 * Self.day))
                current.signed = max(current.signed, start)
                let wait = max(60, signed.milliseconds(since: current.signed) / 1_000)
                refund(&current, .original, 100_000, after: wait)
                let again = chance(60) ? product : otherProduct(than: product)
                let bought = current.signed.adding(seconds: between(60, 2 * Self.day))
                next = period(of: line, first: first, again, at: bought)
                report(&next, at: bought.adding(seconds: 5))
            }
            share(&next, isShared)
            periods.append(current)
            current = next
        }
        periods.append(current)
        for place in periods.indices {
            if periods[place].record.webOrderLineItemId != nil, chance(8) { periods[place].copies = [newID()] }
            afterlife(&periods[place], speakers: .any)
            if isShared { confess(&periods[place]) }
        }
    }

    /// The first period, perhaps a trial.
    private mutating func start(_ line: String, _ first: Timestamp) -> Thing {
        let isTrial = chance(30)
        var thing = period(of: line, first: first, pick(Self.lengths.keys.sorted()), at: first, days: isTrial ? 7 : nil)
        if isTrial {
            (thing.record.price, thing.record.currency) = (0, region.0)
            (thing.record.offerType, thing.record.offerDiscountType) = (.introductory, .freeTrial)
        }
        return thing
    }

    /// Apple may sign the former plan again to say that it was replaced.
    private mutating func upgrade(_ thing: inout Thing, at instant: Timestamp) {
        guard chance(60), thing.signed < instant else { return }
        thing.record.isUpgraded = true
        report(&thing, at: instant.adding(seconds: 3))
    }

    /// A subscription with a next period that is charged already, and begins some hours from now.
    mutating func renewUntilNow() {
        let end = now.adding(seconds: between(2 * Self.hour, 20 * Self.hour))
        let count = between(1, 5)
        let (line, first) = (newID(), end.adding(days: -30 * count))
        for number in 0...count {
            let start = first.adding(days: 30 * number)
            var thing = period(
                of: line, first: first, number == count && chance(30) ? "premium" : "basic", at: start,
                number == 0 ? .purchase : .renewal)
            report(&thing, at: number == 0 ? start : start.adding(seconds: -between(21 * Self.hour, 23 * Self.hour)))
            if number < count - 1 { afterlife(&thing, speakers: .any) }
        }
    }
}
