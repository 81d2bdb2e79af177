import AppStorePayloads

/// One stretch of time that was paid for (or given): the transactions of one web order line item, of which the
/// latest-signed record speaks.
struct Period: Sendable, Hashable {
    let record: TransactionFact
    let start: Timestamp
    /// When it ends by its own record, before refunds and later purchases.
    let expiresAt: Timestamp
    /// When it really ends.
    var end: Timestamp

    /// Nil for what is no auto-renewable period, or lacks a date that makes it one.
    init?(_ record: TransactionFact) {
        guard record.kind == .autoRenewableSubscription, let start = record.purchasedAt, let end = record.expiresAt
        else {
            return nil
        }
        self.record = record
        self.start = start
        self.expiresAt = end
        self.end = end
    }

    var isRevoked: Bool { record.revokedAt != nil }

    func contains(_ instant: Timestamp) -> Bool { start <= instant && instant < end }
}

extension Period {
    /// The line's periods in order of (purchase, expiry, transactionId), their true ends worked out.
    static func all(of facts: PurchaseFacts) -> [Period] {
        var periods = latestRecords(of: facts.transactions.values)
        periods.sort {
            ($0.start, $0.expiresAt, $0.record.transactionID) < ($1.start, $1.expiresAt, $1.record.transactionID)
        }
        for index in periods.indices {
            periods[index].end = periods[index].end(before: periods[(index + 1)...])
        }
        // An extension may be known from renewal info before a transaction tells of it.
        if let last = periods.indices.last, !periods[last].isRevoked,
            let renewal = facts.renewal, !renewal.isStale(beside: periods[last]), let renewsAt = renewal.renewsAt
        {
            periods[last].end = max(periods[last].end, renewsAt)
        }
        return periods
    }

    /// A restore repeats a paid period under another transactionId: the same line item is the same period.
    private static func latestRecords(of facts: some Collection<TransactionFact>) -> [Period] {
        var latest: [String: Period] = [:]
        latest.reserveCapacity(facts.count)
        for fact in facts {
            guard let period = Period(fact) else { continue }
            // Line items and transactions are numbered apart: a prefix keeps the two from meeting.
            let key = fact.webOrderLineItemID.map { "w\($0)" } ?? "t\(fact.transactionID)"
            if let known = latest[key]?.record, !fact.supersedes(known) { continue }
            latest[key] = period
        }
        return Array(latest.values)
    }

    /// Refunded: the refund's date. Replaced by a later purchase before its time: that purchase's date, whether or not
    /// Apple ever sent the old transaction again with `isUpgraded`; its own expiry may well lie after the new plan's.
    private func end(before later: ArraySlice<Period>) -> Timestamp {
        var end = expiresAt
        let successor = later.first {
            start < $0.start && $0.start < expiresAt && (record.isUpgraded || !$0.record.isRenewal)
        }
        if let successor { end = min(end, successor.start) }
        if let revokedAt = record.revokedAt { end = min(end, revokedAt) }
        return end
    }
}

extension RenewalFact {
    /// Whether the line has moved on since this was signed: a period is known that ends after the one it speaks of.
    func isStale(beside latest: Period) -> Bool {
        guard let renewsAt else { return false }
        return latest.expiresAt > renewsAt && latest.record.signedAt > signedAt
    }
}
