import AppStorePayloads
import Base

/// One stretch of time that was paid for (or given): the transactions of one web order line item. The latest-signed
/// record decides.
struct Period: Sendable {
    /// A refund that was reversed: from its date until the record without it was signed.
    struct ReversedRevocation: Sendable, Hashable {
        let from: Timestamp
        let toldAt: Timestamp
        let until: Timestamp
    }

    let record: TransactionFact
    let start: Timestamp
    /// When it ends by its own record, before refunds and later purchases.
    let expiresAt: Timestamp
    /// From when on it counts as paid: its first record's signature, if Apple charged ahead of the start.
    let chargedAt: Timestamp
    /// When its first record was signed.
    let firstSignedAt: Timestamp
    /// When the refund that stands was first reported; nil where none stands.
    let revocationToldAt: Timestamp?
    let reversed: [ReversedRevocation]
    /// When it ends if no known purchase replaced it.
    private var endBySuccession: Timestamp
    /// The purchase that replaced it before its time.
    private var successor: (start: Timestamp, chargedAt: Timestamp)?
    /// When it really ends, by all known facts.
    private(set) var end: Timestamp

    /// Nil for what is not an auto-renewable period, or lacks a date that makes it one.
    /// - Parameter records: those of one line item, in the order of signing.
    init?(_ records: [TransactionFact]) {
        guard let record = records.last, record.isUsablePeriod, let purchasedAt = record.purchasedAt,
            let expiresAt = record.expiresAt
        else { return nil }
        let firstSignedAt = records.reduce(record.asOf) { min($0, $1.asOf) }
        self.record = record
        self.expiresAt = expiresAt
        self.firstSignedAt = firstSignedAt
        // A renewal is charged up to a day ahead. A purchase is not: where its date lies a moment after its signature,
        // two of Apple's clocks differ, and it has begun.
        let ahead = purchasedAt.milliseconds(since: firstSignedAt)
        let isClockDifference = !record.isRenewal && ahead > 0 && ahead <= StatusPolicy.clockDifferenceSeconds * 1000
        start = isClockDifference ? firstSignedAt : purchasedAt
        chargedAt = min(start, firstSignedAt)
        end = min(expiresAt, record.revokedAt ?? .distantFuture)
        endBySuccession = expiresAt
        var reversed: [ReversedRevocation] = []
        var standing: (from: Timestamp, toldAt: Timestamp)?
        for record in records {
            if let revokedAt = record.revokedAt {
                standing = (revokedAt, standing?.toldAt ?? record.asOf)
            } else if let ended = standing {
                if ended.from < record.asOf {
                    reversed.append(.init(from: ended.from, toldAt: ended.toldAt, until: record.asOf))
                }
                standing = nil
            }
        }
        revocationToldAt = standing?.toldAt
        self.reversed = reversed
    }

    private mutating func isSucceeded(by other: Period) {
        successor = (other.start, other.chargedAt)
        end = min(expiresAt, other.start, record.revokedAt ?? .distantFuture)
    }

    private mutating func isSucceeded(at instant: Timestamp) {
        endBySuccession = min(expiresAt, instant)
        end = min(endBySuccession, record.revokedAt ?? .distantFuture)
    }

    var isRevoked: Bool { record.revokedAt != nil }

    /// Whether it is revoked, or once was.
    var wasRevoked: Bool { isRevoked || !reversed.isEmpty }

    func isRevoked(at instant: Timestamp) -> Bool {
        if let revokedAt = record.revokedAt, revokedAt <= instant { return true }
        return reversed.contains { $0.from <= instant && instant < $0.until }
    }

    func contains(_ instant: Timestamp) -> Bool { start <= instant && instant < end && !isRevoked(at: instant) }

    /// When it was to end, as seen at an instant: refunds and replacements count only once they have happened.
    func end(asSeenAt instant: Timestamp) -> Timestamp {
        if let revokedAt = record.revokedAt, revokedAt <= instant { return end }
        let end = endBeforeRefund(asSeenAt: instant)
        guard let refund = reversed.last(where: { $0.from <= instant && instant < $0.until }) else { return end }
        return min(end, refund.from)
    }

    /// When it was to end, as renewal info signed at the instant sees it: a refund reported later, whatever its date,
    /// does not count.
    func end(asSignedAt instant: Timestamp) -> Timestamp {
        let end = endBeforeRefund(asSeenAt: instant)
        if let revocationToldAt, revocationToldAt <= instant { return min(end, record.revokedAt ?? end) }
        guard let refund = reversed.last(where: { $0.toldAt <= instant && instant < $0.until }) else { return end }
        return min(end, refund.from)
    }

    private func endBeforeRefund(asSeenAt instant: Timestamp) -> Timestamp {
        guard let successor, successor.chargedAt <= instant else { return endBySuccession }
        return min(expiresAt, successor.start)
    }
}

extension TransactionFact {
    /// Whether it makes a period of an auto-renewable subscription.
    var isUsablePeriod: Bool { kind == .autoRenewableSubscription && purchasedAt != nil && expiresAt != nil }

    /// The key shared by all records of one paid period. Line items and transactions are numbered independently: the
    /// prefix keeps them apart.
    var periodKey: String { webOrderLineItemID.map { "w\($0)" } ?? "t\(transactionID)" }
}

extension Period {
    /// The periods in order of (purchase, expiry, transactionId), with their true ends.
    static func all(of facts: PurchaseFacts) -> [Period] {
        var records: [String: [TransactionFact]] = [:]
        records.reserveCapacity(facts.transactions.count)
        for fact in facts.transactions { records[fact.periodKey, default: []].append(fact) }
        var periods = records.values.compactMap { Period($0) }
        // A transaction may arrive with a line item and without one: then the key decides, so that the order is total.
        periods.sort {
            ($0.start, $0.expiresAt, $0.record.transactionID, $0.record.periodKey)
                < ($1.start, $1.expiresAt, $1.record.transactionID, $1.record.periodKey)
        }
        for index in periods.indices {
            if let successor = successor(of: index, in: periods) {
                periods[index].isSucceeded(by: periods[successor])
            } else if let renewsAt = periods[index].standsUntil(facts.renewals) {
                periods[index].isSucceeded(at: renewsAt)
            }
        }
        return periods
    }

    /// What replaced a period before its time: any later one that begins in it, whether or not Apple ever sent the old
    /// transaction again with `isUpgraded`; the old expiry may well lie after the new plan's. A renewal that was charged in
    /// the period's last day and refunded, if only for a while, takes nothing from it.
    private static func successor(of index: Int, in periods: [Period]) -> Int? {
        let period = periods[index]
        let lastDay = period.expiresAt.adding(days: -StatusPolicy.renewsEarlyDays)
        var later = index + 1
        while later < periods.count, periods[later].start < period.expiresAt {
            let other = periods[later]
            let isVoid = other.record.isRenewal && other.wasRevoked && other.start >= lastDay
            if other.start > period.start, !isVoid { return later }
            later += 1
        }
        return nil
    }

    /// For a period that Apple calls upgraded while the purchase that replaced it is unknown: the end of that
    /// purchase, by renewal info that is not older.
    private func standsUntil(_ renewals: [RenewalFact]) -> Timestamp? {
        guard record.isUpgraded, let renewal = renewals.last, renewal.signedAt >= record.signedAt,
            let renewsAt = renewal.renewsAt, renewsAt > start
        else { return nil }
        return renewsAt
    }
}
