import AppStorePayloads
import Base
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

    /// Facts of all kinds. Without reports, only the statuses that came beside renewal info are known.
    mutating func draw(withReports: Bool = true) -> Draw {
        var draw = Draw()
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let record = transaction()
            draw.transactions.append(record)
            // A later word on the same period: a refund, its reversal, an extension, an upgrade.
            for _ in 0..<pick([0, 0, 0, 1, 2]) {
                draw.transactions.append(later(than: draw.transactions.last ?? record))
            }
        }
        if chance(30) { draw.transactions += replacedRenewal() }
        if chance(10), let first = draw.transactions.first { draw.transactions += parts(of: first) }
        let dates = draw.transactions.compactMap(\.expiresAt)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            draw.renewals.append(renewal(dates))
            if let last = draw.renewals.last, chance(25) { draw.renewals.append(repeated(last)) }
        }
        if let last = draw.transactions.last, chance(25) { draw.transactions.append(repeated(last)) }
        guard withReports else { return draw }
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            draw.reportedStatuses.append(
                ReportedStatus(
                    // Now and then an unknown one.
                    status: chance(90) ? .random(in: 1...5, using: &generator) : pick([0, 6, 7, -1]),
                    signedAt: day(0...120)))
        }
        for renewal in draw.renewals {
            guard let status = renewal.reportedStatus else { continue }
            let report = ReportedStatus(status: status, signedAt: renewal.signedAt, asOf: renewal.asOf)
            if chance(80) { draw.reportedStatuses.append(report) }
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

    /// From when on a record counts that was signed at an instant: then, or up to 1.5 seconds before it.
    private mutating func asOf(_ signedAt: Timestamp) -> Timestamp {
        chance(70) ? signedAt : signedAt.adding(milliseconds: pick([-1, -13, -1500]))
    }

    private mutating func transaction() -> TransactionFact {
        let start = day(0...90)
        let length = pick([0, 1, 3, 7, 7, 30, 30, 30, 365] as [Int64])
        // When it began, some hours ahead or seconds after, or at any other time.
        let signedAt =
            chance(50)
            ? start.adding(seconds: pick([0, -1, 5, 30, -3600, -20 * 3600, -86_400, -90_000])) : day(0...100)
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
            isUpgraded: chance(12), reason: pick([.purchase, .renewal, .renewal, .unknown]), isFreeTrial: chance(15),
            appAccountToken: token(),
            signedAt: signedAt, asOf: asOf(signedAt), digest: digest(), isUnsigned: chance(15))
    }

    /// A renewal that is charged ahead, and another plan that is bought before it begins; some of it is never heard.
    private mutating func replacedRenewal() -> [TransactionFact] {
        let end = day(20...70)
        func fact(_ number: Int, _ product: String, _ start: Timestamp, days: Int64) -> TransactionFact {
            TransactionFact(
                transactionID: "r\(number)", webOrderLineItemID: "wr\(number)", productID: product,
                subscriptionGroupID: "group", ownership: "PURCHASED", purchasedAt: start,
                expiresAt: start.adding(days: days), signedAt: start, digest: [])
        }
        let bought = end.adding(seconds: -pick([60, 3600, 12_600, 86_399, 86_400, 86_401]))
        var facts = [
            fact(1, "basic", end.adding(days: -30), days: 30),
            fact(2, "basic", end.adding(milliseconds: pick([0, 0, 0, -1, 60_000, 60_001])), days: 30),
            fact(3, pick(["premium", "yearly", "basic"]), bought, days: pick([1, 7, 30, 365])),
        ]
        facts[1].reason = pick([.renewal, .renewal, .renewal, .unknown])
        facts[1].isUpgraded = chance(40)
        facts[1].signedAt =
            chance(60) ? bought.adding(seconds: -pick([1, 23_400])) : bought.adding(seconds: pick([0, 90_000]))
        facts[2].reason = pick([.purchase, .purchase, .renewal, .unknown])
        if chance(30), let end = facts[2].expiresAt {
            var next = fact(4, facts[2].productID ?? "", end, days: 30)
            next.reason = .renewal
            next.signedAt = end.adding(seconds: pick([-36_000, 0, 5]))
            facts.append(next)
        }
        if chance(30) { facts[chance(50) ? 1 : 2].revokedAt = end.adding(seconds: pick([-1800, 0, 86_400])) }
        for index in facts.indices {
            facts[index].asOf = asOf(facts[index].signedAt)
            facts[index].digest = digest()
            facts[index].appAccountToken = token()
        }
        return facts.filter { _ in chance(85) }
    }

    /// What is added to a period, under its line item or one of its own.
    private mutating func parts(of first: TransactionFact) -> [TransactionFact] {
        (0..<pick([1, 1, 2])).map { number in
            var part = first
            part.transactionID = "p\(number)"
            if chance(50) { part.webOrderLineItemID = "wp\(number)" }
            part.purchasedAt = chance(90) ? first.purchasedAt?.adding(days: pick([0, 1, 3])) : first.purchasedAt
            part.signedAt = first.signedAt.adding(days: pick([0, 1, 5]))
            part.asOf = asOf(part.signedAt)
            part.revokedAt = chance(50) ? part.signedAt : nil
            part.additionalReason = chance(85) ? "SEAT_ADDITION" : nil
            part.digest = digest()
            return part
        }
    }

    private mutating func later(than earlier: TransactionFact) -> TransactionFact {
        var record = earlier
        record.signedAt = earlier.signedAt.adding(seconds: pick([0, 1, 3600, 86_400, 10 * 86_400, 40 * 86_400]))
        record.asOf = asOf(record.signedAt)
        record.digest = digest()
        record.isUnsigned = chance(15)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: record.revokedAt = record.signedAt.adding(seconds: pick([0, -5, -86_400]))
        case 4..<8: record.revokedAt = nil
        case 8: record.expiresAt = record.expiresAt?.adding(days: pick([1, 14, -3]))
        default: record.isUpgraded = true
        }
        return record
    }

    /// The same once more: Apple signs what it is asked for anew.
    private mutating func repeated(_ earlier: TransactionFact) -> TransactionFact {
        var record = earlier
        record.signedAt = earlier.signedAt.adding(seconds: pick([60, 3600, 20 * 86_400]))
        record.asOf = record.signedAt
        record.digest = digest()
        return record
    }

    private mutating func repeated(_ earlier: RenewalFact) -> RenewalFact {
        var record = earlier
        record.signedAt = earlier.signedAt.adding(seconds: pick([60, 300, 3600, 20 * 86_400]))
        record.asOf = record.signedAt
        record.digest = digest()
        if chance(70) { record.reportedStatus = nil }
        return record
    }

    private mutating func renewal(_ dates: [Timestamp]) -> RenewalFact {
        let renewsAt = dates.isEmpty || chance(10) ? nil : chance(70) ? pick(dates) : day(0...150)
        let signedAt = chance(70) || dates.isEmpty ? day(0...120) : pick(dates).adding(seconds: pick([0, 20, -86_400]))
        return RenewalFact(
            productID: chance(80) ? pick(["basic", "premium"]) : nil,
            renewalProductID: chance(90) ? pick(["basic", "premium"]) : nil,
            autoRenew: pick([true, true, false, nil]), renewsAt: renewsAt,
            expirationIntent: chance(20) ? .random(in: 1...5, using: &generator) : nil,
            inBillingRetry: pick([true, true, nil, nil, false]),
            graceExpiresAt: chance(30) ? (renewsAt ?? day(0...120)).adding(days: pick([3, 16, 28])) : nil,
            priceIncreasePending: chance(10), appAccountToken: token(), signedAt: signedAt, asOf: asOf(signedAt),
            reportedStatus: chance(60) ? pick([1, 1, 1, 2, 3, 4, 5]) : nil, digest: digest(),
            isUnsigned: chance(15))
    }
}

extension PurchaseFacts {
    /// Every instant at which anything could change, the milliseconds around each, and the two ends of time.
    var interestingInstants: [Timestamp] { interestingInstants(leeway: 0) }

    /// The same, and where a renewal is waited for no longer.
    func interestingInstants(leeway: Int64) -> [Timestamp] {
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
            for milliseconds: Int64 in [-1, 0, 1] {
                for days: Int64 in [-1, 0, 1, 16, 60] {
                    instants.insert(date.adding(days: days).adding(milliseconds: milliseconds))
                }
                if leeway > 0 { instants.insert(date.adding(seconds: leeway).adding(milliseconds: milliseconds)) }
            }
        }
        return instants.sorted()
    }
}
