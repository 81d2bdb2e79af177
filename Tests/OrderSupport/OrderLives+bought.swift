import AppStorePayloads
import Base

/// What is bought once.
extension OrderLives {
    /// A non-consumable with restored copies, and perhaps bought again after its refund.
    mutating func buyForGood() {
        let line = newID()
        let isShared = chance(12)
        var thing = Thing(
            record: transaction(of: line, id: line, "lifetime", .nonConsumable, at: beginning(), days: nil),
            signed: .distantPast)
        share(&thing, isShared)
        for sale in 0..<3 {
            let start = thing.record.purchaseDate ?? now
            report(&thing, at: start.adding(seconds: between(0, 30)))
            for _ in 0..<pick([0, 0, 1, 2]) { restore(&thing) }
            afterlife(&thing, speakers: pick([.original, .copy, .both]))
            let isRefunded =
                thing.record.revocationDate != nil && thing.record.revocationPercentage ?? 100_000 == 100_000
            let isMoney = thing.record.revocationType.map { [.refundFull, .refundProrated].contains($0) } ?? true
            guard isRefunded, isMoney,
                thing.record.revocationType != .refundProrated || thing.record.revocationPercentage != nil,
                !isShared, sale < 2, chance(60)
            else { break }
            again.insert(line)
            let next = thing.signed.adding(seconds: between(60, 90 * Self.day))
            thing = Thing(
                record: transaction(of: line, id: newID(), "lifetime", .nonConsumable, at: next, days: nil),
                signed: .distantPast)
            // In doubt it is a copy.
            (thing.record.price, thing.record.currency) = (between(290, 300_000), region.0)
        }
        if isShared { confess(&thing) }
    }

    /// A restore on another device: its own transaction and date, and the price again.
    private mutating func restore(_ thing: inout Thing) {
        let id = newID()
        let date = thing.signed.adding(seconds: between(60, 5 * Self.day))
        thing.copies.append(id)
        thing.restored[id] = date
        report(&thing, at: date.adding(seconds: 2), as: id)
    }

    /// Consumables and non-renewing ones; some share an originalTransactionId.
    mutating func buyForOnce() {
        let isTerm = chance(40)
        let (line, isOneLine) = (newID(), chance(40))
        var start = beginning()
        let first = start
        for number in 0..<pick([1, 1, 2, 3]) {
            let id = number == 0 ? line : newID()
            var record = transaction(
                of: isOneLine ? line : id, id: id, isTerm ? "season" : "coins",
                isTerm ? .nonRenewingSubscription : .consumable,
                at: start, days: nil)
            if isOneLine { record.originalPurchaseDate = first }
            var thing = Thing(record: record, signed: .distantPast)
            report(&thing, at: start.adding(seconds: between(0, 30)))
            afterlife(&thing, speakers: .original)
            start = start.adding(seconds: between(60, 100 * Self.day))
        }
    }

    // MARK: Sharing

    /// Marks what a family member has by sharing. Some records of old do not say so at first.
    mutating func share(_ thing: inout Thing, _ isShared: Bool) {
        guard isShared else { return }
        thing.record.inAppOwnershipType = chance(60) ? .familyShared : nil
    }

    /// The last record says that it is shared.
    mutating func confess(_ thing: inout Thing) {
        thing.record.inAppOwnershipType = .familyShared
        for copy in [nil] + thing.copies.map(Optional.some) {
            report(&thing, at: thing.signed.adding(seconds: between(1, Self.day)), as: copy)
        }
    }

    // MARK: Afterlife

    /// Which of a purchase and its copies Apple names in what it signs later.
    enum Speakers { case original, copy, both, any }

    /// What Apple signs of something after it was bought.
    mutating func afterlife(_ thing: inout Thing, speakers: Speakers) {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<34: return
        case 34..<44: sayAgain(&thing, speakers)
        case 44..<56: refund(&thing, speakers, 100_000, after: wait())
        case 56..<68:
            refund(&thing, speakers, 100_000, after: wait())
            reverse(&thing, speakers)
            if chance(40) { refund(&thing, speakers, pick([100_000, 40_000]), after: wait()) }
        case 68..<84:
            for _ in 0..<pick([1, 1, 2, 3, 4]) {
                refund(&thing, speakers, pick([between(1, 99_000), 50_000, 33_333, 75_000, 100_000]), after: wait())
            }
            if chance(25) { reverse(&thing, speakers) }
        case 84..<88 where thing.record.revocationDate == nil:
            refund(&thing, speakers, nil, after: wait())
            if chance(40) { reverse(&thing, speakers) }
        case 88..<91 where thing.record.revocationDate == nil:
            thing.record.revocationDate = thing.signed.adding(seconds: between(60, Self.day))
            thing.record.revocationType = chance(50) ? .familyRevoke : .assignmentRevoke
            say(&thing, speakers, after: 2 * Self.day)
        default: refund(&thing, speakers, pick([100_000, between(1, 99_000)]), after: between(365, 400) * Self.day)
        }
        if chance(15) { sayAgain(&thing, speakers) }
    }

    private mutating func wait() -> Int64 { between(30, pick([Self.hour, 3 * Self.day, 30 * Self.day])) }

    /// The same record, signed again.
    private mutating func sayAgain(_ thing: inout Thing, _ speakers: Speakers) { say(&thing, speakers, after: wait()) }

    /// Apple gives so much back in all, in thousandths of a percent; nil where it does not say how much. A fall keeps the date.
    mutating func refund(_ thing: inout Thing, _ speakers: Speakers, _ share: Int64?, after seconds: Int64) {
        let signed = thing.signed.adding(seconds: seconds)
        let former = thing.record.revocationDate
        let last = thing.record.revocationPercentage ?? (former == nil ? 0 : 100_000)
        if share ?? .max > last {
            // A record that is dated back to its purchase is a copy of what was refunded then.
            let earliest = former ?? thing.record.purchaseDate?.adding(seconds: 1) ?? signed
            thing.record.revocationDate = max(
                earliest, signed.adding(seconds: -pick([0, 60, Self.hour, 3 * Self.day])))
        }
        switch share {
        case nil: (thing.record.revocationType, thing.record.revocationPercentage) = (.refundProrated, nil)
        case 100_000?:
            (thing.record.revocationType, thing.record.revocationPercentage) = pick([
                (.refundFull, nil), (.refundFull, 100_000), (nil, nil), (nil, 100_000), (.refundProrated, 100_000),
            ])
        case let share?:
            (thing.record.revocationType, thing.record.revocationPercentage) = (pick([.refundProrated, nil]), share)
        }
        say(&thing, speakers, after: seconds)
    }

    /// Apple takes the refund back.
    private mutating func reverse(_ thing: inout Thing, _ speakers: Speakers) {
        (thing.record.revocationDate, thing.record.revocationType, thing.record.revocationPercentage) = (nil, nil, nil)
        // The reversal of one restores all.
        say(&thing, speakers == .both && chance(50) ? .original : speakers, after: wait())
    }

    private mutating func say(_ thing: inout Thing, _ speakers: Speakers, after seconds: Int64) {
        let signed = thing.signed.adding(seconds: seconds)
        guard let copy = thing.copies.first else { return report(&thing, at: signed) }
        switch speakers {
        case .original: report(&thing, at: signed)
        case .copy: report(&thing, at: signed, as: copy)
        case .both:
            report(&thing, at: signed)
            report(&thing, at: signed.adding(milliseconds: between(1, 20_000)), as: copy)
        case .any: report(&thing, at: signed, as: chance(50) ? copy : nil)
        }
    }
}
