import AppStorePayloads
import Base
import Subscriptions
import TestSupport

/// A subscription of many weekly periods: renewed early or on time, switched off and on, refunded, lapsed, retried,
/// upgraded. What Apple would say of it, piece by piece in the order of signing.
struct LongPurchase {
    /// One piece of evidence: its parts count together.
    struct Statement {
        var signedAt: Timestamp
        var transaction: TransactionFact?
        var renewal: RenewalFact?
        var status: Int?

        var report: ReportedStatus? {
            status.map {
                ReportedStatus(status: $0, signedAt: signedAt, asOf: min(signedAt, renewal?.signedAt ?? signedAt))
            }
        }
    }

    /// How much of what is not an ordinary renewal there is.
    enum Kind: CaseIterable, Sendable {
        case ordinary
        case eventful
        /// Eventful, and some records are lost, late, or lack what they should have.
        case odd
    }

    var generator: SeededGenerator
    private let kind: Kind
    private(set) var statements: [Statement] = []
    private var periods: [TransactionFact] = []
    private var renewal: RenewalFact
    private var now: Timestamp
    private var records: UInt64 = 0

    init(_ kind: Kind, periods count: Int, using generator: SeededGenerator) {
        self.kind = kind
        self.generator = generator
        now = RandomFacts<SeededGenerator>.origin
        renewal = RenewalFact(signedAt: now, digest: [])
        buy(at: now)
        while periods.count < count {
            if kind != .ordinary, chance(30) { act() }
            seam()
        }
        if kind == .odd { makeOdd() }
    }

    static func facts(_ statements: some Sequence<Statement>) -> PurchaseFacts {
        var facts = PurchaseFacts()
        for statement in statements {
            if let transaction = statement.transaction { facts.merge(transaction) }
            if let renewal = statement.renewal { facts.merge(renewal) }
            if let report = statement.report { facts.merge(report) }
        }
        return facts
    }

    // MARK: - What happens

    private var newest: TransactionFact { periods[periods.count - 1] }
    private var end: Timestamp { newest.expiresAt ?? now }

    private mutating func buy(
        at start: Timestamp, chargedAt charged: Timestamp? = nil, isRenewal: Bool = false, of product: String? = nil
    ) {
        now = max(now, charged ?? start)
        let number = periods.count
        periods.append(
            TransactionFact(
                transactionID: "\(1000 + number)", webOrderLineItemID: "w\(1000 + number)",
                productID: product ?? (chance(4) ? "premium" : periods.last?.productID ?? "basic"),
                subscriptionGroupID: "group",
                ownership: "PURCHASED", purchasedAt: start, expiresAt: start.adding(days: 7),
                reason: isRenewal ? .renewal : .purchase,
                isFreeTrial: number == 0 && chance(50), appAccountToken: account(), signedAt: now, digest: []))
        renewal = RenewalFact(
            productID: newest.productID, renewalProductID: newest.productID, autoRenew: true, renewsAt: end,
            appAccountToken: chance(20) ? account() : nil, signedAt: now, digest: [])
        say(1)
    }

    private mutating func seam() {
        switch kind == .ordinary ? 50 : Int.random(in: 0..<100, using: &generator) {
        case 0..<5:
            renewal.autoRenew = false
            renewal.expirationIntent = 1
            wait(until: end)
            say(2)
            buy(at: now.adding(seconds: Int64.random(in: 60...40 * 86_400, using: &generator)))
        case 5..<12: retry()
        case 12..<16: refundNewest()
        default:
            guard renewal.autoRenew == true else {
                renewal.autoRenew = true
                wait(seconds: 60...3600)
                return say(1)
            }
            let ahead = chance(50) ? Int64.random(in: 60...86_400, using: &generator) : 0
            let next = end
            buy(at: next, chargedAt: max(now.adding(seconds: 5), next.adding(seconds: -ahead)), isRenewal: true)
            if kind != .ordinary, chance(15), now.adding(seconds: 60) < next { buyInstead(before: next) }
        }
    }

    /// Another plan, while the next period is charged already: that one never begins.
    private mutating func buyInstead(before next: Timestamp) {
        let old = periods.count - 1
        now = now.adding(seconds: .random(in: 1...(next.milliseconds(since: now) / 1000 - 10), using: &generator))
        buy(at: now, of: newest.productID == "premium" ? "basic" : "premium")
        periods[old].isUpgraded = chance(70)
        if chance(30) { periods[old].revokedAt = now }
        if chance(40) { say(1, about: old) }
    }

    private mutating func retry() {
        wait(until: end)
        let hasGrace = chance(50)
        // Apple may leave the flag out beside a status that says as much.
        renewal.inBillingRetry = chance(80) ? true : nil
        if hasGrace { renewal.graceExpiresAt = chance(70) ? end.adding(days: 6) : nil }
        say(hasGrace ? 4 : 3)
        wait(seconds: 3600...5 * 86_400)
        guard chance(70) else {
            renewal.inBillingRetry = false
            renewal.autoRenew = false
            renewal.expirationIntent = 2
            say(2)
            return buy(at: now.adding(days: 3))
        }
        buy(at: now, isRenewal: true)
    }

    private mutating func refundNewest() {
        periods[periods.count - 1].revokedAt = now.adding(seconds: -3)
        renewal.autoRenew = false
        let isAhead = newest.purchasedAt.map { $0 > now } ?? false
        say(isAhead ? 1 : 5)
        wait(seconds: 60...86_400)
        guard chance(50) else { return buy(at: max(now, newest.purchasedAt ?? now)) }
        periods[periods.count - 1].revokedAt = nil
        renewal.autoRenew = true
        say(end > now ? 1 : 2)
        if end <= now { buy(at: now.adding(seconds: 3600)) }
    }

    private mutating func act() {
        guard let start = newest.purchasedAt, now < end.adding(days: -2) else { return }
        wait(until: start)
        wait(seconds: 60...86_400)
        switch Int.random(in: 0..<6, using: &generator) {
        case 5:
            // A worker that asks gets the same, signed anew, and no signed status.
            say(nil)
        case 0:
            renewal.autoRenew = renewal.autoRenew == false
            say(1)
        case 1:
            let old = Int.random(in: 0..<periods.count, using: &generator)
            guard old < periods.count - 1, chance(60) else { return }
            periods[old].revokedAt = chance(80) ? now : nil
            say(1, about: old)
        case 2:
            let old = periods.count - 1
            if chance(50) { periods[old].isUpgraded = true }
            buy(at: now)
            if chance(30) { say(1, about: old) }
        case 3:
            periods[periods.count - 1].expiresAt = end.adding(days: 3)
            renewal.renewsAt = end
            say(1)
        default:
            renewal.priceIncreasePending.toggle()
            say(1)
        }
    }

    // MARK: - What is said

    private mutating func say(_ status: Int?, about index: Int? = nil) {
        now = now.adding(seconds: 2)
        var transaction = periods[index ?? periods.count - 1]
        transaction.signedAt = now.adding(milliseconds: chance(70) ? 0 : chance(50) ? -1200 : 12)
        transaction.asOf = min(now, transaction.signedAt)
        transaction.digest = digest()
        renewal.signedAt = transaction.signedAt
        renewal.asOf = transaction.asOf
        renewal.reportedStatus = status
        renewal.digest = digest()
        statements.append(Statement(signedAt: now, transaction: transaction, renewal: renewal, status: status))
    }

    private mutating func makeOdd() {
        for index in statements.indices.reversed() where chance(10) {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: statements.remove(at: index)
            case 2:
                statements[index].status = nil
                statements[index].renewal?.reportedStatus = nil
            case 3: statements[index].renewal = nil
            case 4: statements[index].transaction = nil
            case 5: statements[index].transaction?.webOrderLineItemID = nil
            case 6:
                let status = Int.random(in: 1...5, using: &generator)
                statements[index].status = status
                statements[index].renewal?.reportedStatus = status
            default:
                let seconds = Int64.random(in: -40...40, using: &generator)
                let date = statements[index].transaction?.purchasedAt
                statements[index].transaction?.purchasedAt = date?.adding(seconds: seconds)
            }
        }
    }

    // MARK: - Chance

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func wait(seconds: ClosedRange<Int64>) {
        now = now.adding(seconds: .random(in: seconds, using: &generator))
    }

    private mutating func wait(until instant: Timestamp) { now = max(now, instant) }

    private mutating func account() -> UniqueIdentifier? {
        if let last = periods.last?.appAccountToken, !chance(10) { return last }
        return chance(50) ? UniqueIdentifier(high: 7, low: .random(in: 1...3, using: &generator)) : nil
    }

    private mutating func digest() -> [UInt8] {
        records += 1
        return withUnsafeBytes(of: generator.next().bigEndian, Array.init)
            + withUnsafeBytes(of: records.bigEndian, Array.init) + Array(repeating: 0, count: 16)
    }
}
