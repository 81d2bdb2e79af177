import Foundation

/// Decides whether an account has access, by what the store and the server have said.
///
/// 1. What the server has taken back allows nothing.
/// 2. An entitlement of the store allows, while the server has not judged it as ended.
/// 3. Else the server's last answer does, until the end that it states and for the grace after that: the server is asked at that end,
///    and while it cannot be, access goes on.
struct AccessDecision: Sendable {
    /// What the store holds for the customer, each with a signature that the device has checked.
    var entitlements: [StoreTransaction]
    /// What is known of the account; nil where nothing is.
    var known: KnownStatus?
    /// Whether the server has answered when it was asked last, in this process.
    var isAsked: Bool
    /// Now, by the guarded clock.
    var now: Date
    /// How long access goes on after its end until the server has been asked, in seconds.
    var grace: TimeInterval

    /// What is decided.
    var access: Access {
        let server = byServer
        guard let store = byStore else { return server ?? Access() }
        guard let server, let known else { return store }
        // Staff may have given more than the store has sold.
        if known.rank(server.tier) > known.rank(store.tier) || store.tier == nil { return server }
        var both = store
        if known.rank(server.tier) == known.rank(store.tier) {
            both.until = store.until.flatMap { mine in server.until.map { max(mine, $0) } }
        }
        return both
    }

    /// Whether an entitlement gives access now.
    func allows(_ transaction: StoreTransaction) -> Bool {
        if transaction.revokedAt != nil || transaction.isUpgraded { return false }
        if let end = transaction.expiresAt, end <= now { return false }
        guard let known else { return true }
        if known.answer?.takesBack(transaction) == true || known.refused.contains(transaction.originalID) {
            return false
        }
        if known.hasJudged(transaction) { return known.purchase(transaction.originalID).map(gives) ?? false }
        // What was signed for another account is refused as soon as the server is asked.
        guard let token = transaction.appAccountToken, let own = known.appAccountToken else { return true }
        return token == own
    }

    /// The store's ids of what gives access now.
    var productIDs: Set<String> {
        let held = Set(entitlements.filter(allows).map(\.productID))
        guard byServer != nil, let purchases = known?.answer?.purchases else { return held }
        return held.union(purchases.filter(gives).map(\.productID))
    }

    /// Whether a purchase of the server's last answer gives access now.
    private func gives(_ purchase: KnownStatus.Purchase) -> Bool {
        guard purchase.hasAccess, !isTakenBack(purchase.transactionID) else { return false }
        return purchase.expiresAt.map { !isOver($0) } ?? true
    }

    /// Whether the store has taken a transaction back, and the server does not know of that yet.
    private func isTakenBack(_ transactionID: String?) -> Bool {
        transactionID.map { known?.takenBack.contains($0) ?? false } ?? false
    }

    /// Whether an end that the server stated is over. It was stated before it came, and not asked about since: hence the grace.
    private func isOver(_ end: Date) -> Bool { end + max(0, grace) <= now }

    /// What the best of the store's entitlements gives.
    private var byStore: Access? {
        entitlements.filter(allows).map { transaction in
            // The store states no end of a term that does not renew itself; the server does.
            let until = transaction.expiresAt ?? known?.purchase(transaction.originalID)?.expiresAt
            return Access(allowed: true, tier: known?.tier(of: transaction.productID), until: until, basis: .store)
        }.max { one, other in
            let (low, high) = (known?.rank(one.tier) ?? -1, known?.rank(other.tier) ?? -1)
            return low == high ? (one.until ?? .distantFuture) < (other.until ?? .distantFuture) : low < high
        }
    }

    /// What the server's last answer gives now.
    private var byServer: Access? {
        guard let answer = known?.answer, answer.hasAccess else { return nil }
        if let end = answer.accessUntil, isOver(end) { return nil }
        if isTakenBack(answer.transactionID), !answer.purchases.contains(where: gives) { return nil }
        let isBefore = answer.accessUntil.map { now < $0 } ?? true
        return Access(
            allowed: true, tier: tier(of: answer), until: answer.accessUntil,
            basis: isAsked && isBefore ? .server : .cache)
    }

    /// The answer's tier, or what is left of access once that has ended.
    private func tier(of answer: KnownStatus.Answer) -> String? {
        guard let end = answer.tierUntil, end != answer.accessUntil, isOver(end) else { return answer.tier }
        return answer.purchases.filter { $0.tier != answer.tier && gives($0) }.compactMap(\.tier).max {
            known?.rank($0) ?? -1 < known?.rank($1) ?? -1
        }
    }
}

extension AccessDecision {
    /// See ``SubscriptionManager/Access``.
    typealias Access = SubscriptionManager.Access
}
