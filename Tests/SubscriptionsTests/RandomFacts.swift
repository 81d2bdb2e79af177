import AppStorePayloads
import Subscriptions

/// Random facts of one line, drawn so that what is awkward is common: dates that coincide or miss each other by a
/// millisecond, missing dates, overlaps, repeats of a line item, records signed at the same instant.
struct RandomFacts<Generator: RandomNumberGenerator> {
    static var origin: Timestamp { Timestamp(millisecondsSince1970: 1_749_990_400_000) }

    var generator: Generator
    private var records: UInt64 = 0

    init(_ generator: Generator) { self.generator = generator }

    struct Draw {
        var transactions: [TransactionFact] = []
        var renewals: [RenewalFact] = []
        var reportedStatuses: [ReportedStatus] = []

        var facts: PurchaseFacts {
            var facts = PurchaseFacts(transactions: transactions)
            for renewal in renewals { facts.merge(renewal) }
            for reportedStatus in reportedStatuses { facts.merge(reportedStatus) }
            return facts
        }
    }

    mutating func draw() -> Draw {
        var draw = Draw()
        for _ in 0..<Int.random(in: 1...6, using: &generator) { draw.transactions.append(transaction()) }
        let dates = draw.transactions.compactMap(\.expiresAt)
        for _ in 0..<Int.random(in: 0...2, using: &generator) { draw.renewals.append(renewal(dates)) }
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            draw.reportedStatuses.append(
                ReportedStatus(status: .random(in: 1...5, using: &generator), signedAt: day(0...120)))
        }
        return draw
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func day(_ range: ClosedRange<Int64>) -> Timestamp {
        let day = Int64.random(in: range, using: &generator)
        let jitter: Int64 = chance(80) ? 0 : .random(in: -1...1, using: &generator)
        return Self.origin.adding(days: day).adding(milliseconds: jitter)
    }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &generator)] }

    /// No two records have the same digest, as no two texts have.
    private mutating func digest() -> [UInt8] {
        records += 1
        return withUnsafeBytes(of: generator.next().bigEndian, Array.init)
            + withUnsafeBytes(of: records.bigEndian, Array.init) + Array(repeating: 0, count: 16)
    }

    private mutating func token() -> UniqueIdentifier? {
        chance(40) ? UniqueIdentifier(high: 7, low: .random(in: 1...3, using: &generator)) : nil
    }

    private mutating func transaction() -> TransactionFact {
        let start = day(0...90)
        let length = pick([0, 1, 3, 7, 7, 30, 30, 30, 365] as [Int64])
        return TransactionFact(
            transactionID: "t\(Int.random(in: 1...6, using: &generator))",
            webOrderLineItemID: chance(40) ? "w\(Int.random(in: 1...4, using: &generator))" : nil,
            productID: chance(95) ? pick(["basic", "premium", "yearly"]) : nil,
            subscriptionGroupID: chance(90) ? "group" : nil,
            kind: chance(95) ? .autoRenewableSubscription : pick([nil, .consumable]),
            ownership: chance(10) ? "FAMILY_SHARED" : "PURCHASED",
            purchasedAt: chance(96) ? start : nil,
            expiresAt: chance(96) ? start.adding(days: length).adding(milliseconds: chance(3) ? -1 : 0) : nil,
            // Now and then before the purchase, or after the end.
            revokedAt: chance(20) ? day(-5...120) : nil,
            isUpgraded: chance(12), isRenewal: chance(50), isFreeTrial: chance(15), appAccountToken: token(),
            signedAt: day(0...100), digest: digest())
    }

    private mutating func renewal(_ dates: [Timestamp]) -> RenewalFact {
        let renewsAt = dates.isEmpty || chance(10) ? nil : chance(70) ? pick(dates) : day(0...150)
        return RenewalFact(
            renewalProductID: chance(90) ? pick(["basic", "premium"]) : nil,
            autoRenew: pick([true, true, false, nil]), renewsAt: renewsAt,
            expirationIntent: chance(20) ? .random(in: 1...5, using: &generator) : nil,
            inBillingRetry: chance(35),
            graceExpiresAt: chance(30) ? (renewsAt ?? day(0...120)).adding(days: pick([3, 16, 28])) : nil,
            priceIncreasePending: chance(10), appAccountToken: token(), signedAt: day(0...120), digest: digest())
    }
}

extension PurchaseFacts {
    /// Every instant at which anything could change, the milliseconds around each, and the two ends of time.
    var interestingInstants: [Timestamp] {
        var dates: [Timestamp] = []
        for fact in transactions {
            dates += [fact.purchasedAt, fact.expiresAt, fact.revokedAt].compactMap(\.self)
        }
        for fact in transactions { dates.append(fact.asOf) }
        for renewal in renewals {
            dates += [renewal.asOf, renewal.renewsAt, renewal.graceExpiresAt].compactMap(\.self)
        }
        for report in reportedStatuses { dates.append(report.asOf) }
        var instants: Set<Timestamp> = [.distantPast, .distantFuture]
        for date in dates {
            for days: Int64 in [-1, 0, 16, 60] {
                for milliseconds: Int64 in [-1, 0, 1] {
                    instants.insert(date.adding(days: days).adding(milliseconds: milliseconds))
                }
            }
        }
        return instants.sorted()
    }
}
