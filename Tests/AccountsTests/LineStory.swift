import Accounts
import AppStorePayloads
import Base
import Subscriptions

/// A line as Apple signs it, record by record, on the days of ``day(_:)``.
struct LineStory {
    private(set) var facts = PurchaseFacts()
    private var count = 0
    var ownership = PurchaseOwnership()
    var policy = StatusPolicy()

    /// A period; by default it is charged and signed when it begins.
    mutating func period(
        _ reason: TransactionFact.Reason, _ product: String, _ from: Double, _ until: Double,
        trial: Bool = false, signed: Double? = nil, revoked: Double? = nil, token: UniqueIdentifier? = ann
    ) {
        count += 1
        facts.merge(
            TransactionFact(
                transactionID: "\(count)", webOrderLineItemID: "w\(count)", productID: product, purchasedAt: day(from),
                expiresAt: day(until), revokedAt: revoked.map(day), reason: reason, isFreeTrial: trial,
                appAccountToken: token, signedAt: day(revoked ?? signed ?? from), digest: [UInt8(count)]))
    }

    /// One of `pro.monthly`.
    mutating func period(
        _ reason: TransactionFact.Reason, _ from: Double, _ until: Double, revoked: Double? = nil,
        token: UniqueIdentifier? = ann
    ) {
        period(reason, "pro.monthly", from, until, revoked: revoked, token: token)
    }

    /// Renewal info.
    mutating func renewal(
        _ signed: Double, of product: String = "pro.monthly", names: String? = nil, until: Double? = nil,
        renews: Bool? = true, isRetried: Bool = false, grace: Double? = nil, status: Int? = nil,
        token: UniqueIdentifier? = nil
    ) {
        count += 1
        var fact = RenewalFact(
            productID: product, renewalProductID: names ?? product, autoRenew: renews, renewsAt: until.map(day),
            graceExpiresAt: grace.map(day), appAccountToken: token, signedAt: day(signed), reportedStatus: status,
            digest: [UInt8(count)])
        fact.inBillingRetry = isRetried
        facts.merge(fact)
        if let status { facts.merge(ReportedStatus(status: status, signedAt: day(signed))) }
    }

    /// The line.
    var line: AccountLine {
        let state = PurchaseState(facts, policy: policy).subscription
        return AccountLine(
            key: key(1), content: .subscription((state?.phases ?? []).map { LinePhase($0) }), ownership: ownership,
            stretchEnds: state?.stretchEnds ?? [])
    }

    /// What it makes of an account.
    func state(
        _ acts: [StaffAct] = [], of account: UniqueIdentifier = ann, with others: [AccountLine] = []
    ) -> AccountState {
        AccountState(AccountFacts(account: account, lines: [line] + others, acts: acts), catalog: shop)
    }
}

/// A line, told by a closure.
func line(_ tell: (inout LineStory) -> Void) -> LineStory {
    var story = LineStory()
    tell(&story)
    return story
}

/// Bindings in order.
func bindings(_ bindings: [(Double, PurchaseBinding.Kind, UniqueIdentifier)]) -> PurchaseOwnership {
    PurchaseOwnership(
        bindings.enumerated().map {
            PurchaseBinding(id: Int64($0 + 1), kind: $1.1, account: $1.2, at: day($1.0))
        })
}
