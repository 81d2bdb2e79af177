import Foundation

/// Decides whether an account has access, by what the store and the server have said.
///
/// 1. What the server has taken back allows nothing.
/// 2. An entitlement of the store allows, while the server has not judged it as ended.
/// 3. Else the server's last answer does, until the end that it states. While the server cannot be asked, for the grace after that, too.
struct AccessDecision: Sendable {
    /// What the store holds for the customer, each with a signature that the device has checked.
    var entitlements: [StoreTransaction]
    /// What is known of the account; nil where nothing is.
    var known: KnownStatus?
    /// Whether the server has answered when it was asked last, in this process.
    var isAsked: Bool
    /// Now, by the guarded clock.
    var now: Date
    /// How long access goes on after its end while the server cannot be asked, in seconds.
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
        if known.answer?.isTakenBack == true || known.refused.contains(transaction.originalID) { return false }
        if known.hasJudged(transaction) { return known.purchase(transaction.originalID)?.hasAccess == true }
        // What was signed for another account is refused as soon as the server is asked.
        guard let token = transaction.appAccountToken, let own = known.appAccountToken else { return true }
        return token == own
    }

    /// The store's ids of what gives access now.
    var productIDs: Set<String> {
        let held = Set(entitlements.filter(allows).map(\.productID))
        guard byServer != nil, let purchases = known?.answer?.purchases else { return held }
        let grace = isAsked ? 0 : max(0, grace)
        let stated = purchases.filter { purchase in
            purchase.hasAccess && purchase.expiresAt.map { $0 + grace > now } ?? true
        }
        return held.union(stated.map(\.productID))
    }

    /// What the best of the store's entitlements gives.
    private var byStore: Access? {
        entitlements.filter(allows).map { transaction in
            Access(
                allowed: true, tier: known?.tier(of: transaction.productID), until: transaction.expiresAt, basis: .store
            )
        }.max { one, other in
            let (low, high) = (known?.rank(one.tier) ?? -1, known?.rank(other.tier) ?? -1)
            return low == high ? (one.until ?? .distantFuture) < (other.until ?? .distantFuture) : low < high
        }
    }

    /// What the server's last answer gives now.
    private var byServer: Access? {
        guard let answer = known?.answer, answer.hasAccess else { return nil }
        let grace = isAsked ? 0 : max(0, grace)
        if let end = answer.accessUntil, end + grace <= now { return nil }
        return Access(
            allowed: true, tier: tier(of: answer, after: grace), until: answer.accessUntil,
            basis: isAsked ? .server : .cache)
    }

    /// The answer's tier, or what is left of access once that has ended.
    private func tier(of answer: KnownStatus.Answer, after grace: TimeInterval) -> String? {
        guard let end = answer.tierUntil, end != answer.accessUntil, end + grace <= now else { return answer.tier }
        return answer.purchases.filter { purchase in
            purchase.hasAccess && purchase.tier != answer.tier && purchase.expiresAt.map { $0 + grace > now } ?? true
        }.compactMap(\.tier).max { known?.rank($0) ?? -1 < known?.rank($1) ?? -1 }
    }
}

extension AccessDecision {
    /// See ``SubscriptionManager/Access``.
    typealias Access = SubscriptionManager.Access
}
