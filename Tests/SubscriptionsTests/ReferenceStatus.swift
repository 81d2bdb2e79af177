import AppStorePayloads
import Subscriptions

/// The rules of the status, written down a second time, as plainly and as slowly as they read, to test the first by.
///
/// It holds from the latest period's beginning on. For earlier instants the plain rules would judge the past by the
/// latest period; the model judges it by the period that was running then.
enum ReferenceStatus {
    static func beginning(_ facts: PurchaseFacts) -> Timestamp? { periods(facts).last?.purchasedAt }

    static func status(_ facts: PurchaseFacts, at now: Timestamp, graceDays: Int64) -> SubscriptionStatus? {
        let periods = periods(facts)
        guard let latest = periods.last else { return nil }
        let renewal = facts.renewal.flatMap { isStale($0, latest) ? nil : $0 }

        for period in periods.reversed() {
            guard let start = period.purchasedAt, start <= now, now < end(period, periods, renewal) else { continue }
            if renewal?.autoRenew == false { return .cancelled }
            return period.isFreeTrial ? .trial : .active
        }
        if latest.revokedAt != nil { return .revoked }
        let expiry = end(latest, periods, renewal)
        if let grace = renewal?.graceExpiresAt {
            if now < grace { return .gracePeriod }
        } else if let reportedStatus = facts.reportedStatus, reportedStatus.status == 4,
            reportedStatus.signedAt > expiry.adding(days: -1),
            facts.renewal == nil || renewal != nil
        {
            if now < expiry.adding(days: graceDays) { return .gracePeriod }
        }
        if renewal?.inBillingRetry == true, now < expiry.adding(days: 60) { return .billingRetry }
        return .expired
    }

    /// Of each line item the latest-signed record, by (purchase, expiry, id); what lacks a date is no period.
    private static func periods(_ facts: PurchaseFacts) -> [TransactionFact] {
        let usable = facts.transactions.values.filter {
            $0.kind == .autoRenewableSubscription && $0.purchasedAt != nil && $0.expiresAt != nil
        }
        let spoken = usable.filter { fact in
            guard let item = fact.webOrderLineItemID else { return true }
            return !usable.contains { $0.webOrderLineItemID == item && isLater($0, than: fact) }
        }
        return spoken.sorted { key($0) < key($1) }
    }

    private static func key(_ fact: TransactionFact) -> (Timestamp, Timestamp, String) {
        (fact.purchasedAt ?? .distantPast, fact.expiresAt ?? .distantPast, fact.transactionID)
    }

    private static func isLater(_ a: TransactionFact, than b: TransactionFact) -> Bool {
        if a.signedAt != b.signedAt { return a.signedAt > b.signedAt }
        return b.digest.lexicographicallyPrecedes(a.digest)
    }

    private static func isStale(_ renewal: RenewalFact, _ latest: TransactionFact) -> Bool {
        guard let renewsAt = renewal.renewsAt, let expiry = latest.expiresAt else { return false }
        return expiry > renewsAt && latest.signedAt > renewal.signedAt
    }

    private static func end(
        _ period: TransactionFact, _ periods: [TransactionFact], _ renewal: RenewalFact?
    ) -> Timestamp {
        guard let start = period.purchasedAt, let expiry = period.expiresAt else { return .distantPast }
        var ends = [expiry]
        if let revokedAt = period.revokedAt { ends.append(revokedAt) }
        for other in periods {
            guard let bought = other.purchasedAt, start < bought, bought < expiry else { continue }
            if period.isUpgraded || !other.isRenewal { ends.append(bought) }
        }
        let end = ends.min() ?? expiry
        if period == periods.last, period.revokedAt == nil, let renewsAt = renewal?.renewsAt {
            return max(end, renewsAt)
        }
        return end
    }
}
