import AppStorePayloads
import Base

/// One stretch of time that was paid for (or given): the transactions of one web order line item. The latest-signed
/// record decides.
///
/// How periods replace each other is decided by the order in which they were bought, which is not the order in which they
/// begin: a renewal is charged up to a day ahead, and another plan may be bought meanwhile. Then it never begins
/// (``replacedAt``).
struct Period: Sendable {
    /// A refund that was reversed: from its date until the record without it was signed.
    struct ReversedRevocation: Sendable, Hashable {
        let from: Timestamp
        let toldAt: Timestamp
        let until: Timestamp
    }

    /// What all records of the period have in common, and those of no other.
    let key: String
    let record: TransactionFact
    /// All of its records, in the order of signing.
    let records: [TransactionFact]
    let start: Timestamp
    /// When it ends by its own record, before refunds and later purchases.
    let expiresAt: Timestamp
    /// Other ends that its earlier records gave, before Apple moved the end. Mostly none.
    let formerEnds: [Timestamp]
    /// From when on it counts as paid: its first record's signature, if Apple charged ahead of the start.
    let chargedAt: Timestamp
    /// When its first record was signed.
    let firstSignedAt: Timestamp
    /// When the refund that stands was first reported; nil where none stands.
    let revocationToldAt: Timestamp?
    let reversed: [ReversedRevocation]
    /// Whether one of its records says why it stands beside others.
    let standsBeside: Bool
    /// From when on it counts for nothing: it was charged ahead, and another plan was bought before it began.
    var replacedAt: Timestamp?
    /// Whether it is one of several parts of one period (seats that were added, a purchase in two transactions).
    var isPart = false
    /// When it ends if no known purchase replaced it.
    private var endBySuccession: Timestamp
    /// The purchase that replaced it before its time.
    private var successor: (start: Timestamp, chargedAt: Timestamp)?
    /// Purchases that were going to replace it, and were replaced themselves before they began. Mostly none.
    private var formerSuccessors: [(start: Timestamp, chargedAt: Timestamp, replacedAt: Timestamp)] = []
    /// From when on a purchase has replaced it that was never heard of.
    private var unheardFrom: Timestamp?
    /// When it really ends, by all known facts.
    private(set) var end: Timestamp

    /// Nil for what is not an auto-renewable period, or lacks a date that makes it one.
    /// - Parameter records: those of one line item, in the order of signing.
    init?(_ records: [TransactionFact], key: String? = nil) {
        guard var record = records.last, record.isUsablePeriod, let purchasedAt = record.purchasedAt,
            let expiresAt = record.expiresAt
        else { return nil }
        self.records = records
        let firstSignedAt = records.reduce(record.asOf) { min($0, $1.asOf) }
        self.key = key ?? record.periodKey
        standsBeside = records.contains { $0.additionalReason != nil }
        self.expiresAt = expiresAt
        formerEnds = records.compactMap { $0.expiresAt == expiresAt ? nil : $0.expiresAt }
        self.firstSignedAt = firstSignedAt
        // A renewal is charged up to a day ahead. A purchase is not: where its date lies a moment after its signature,
        // two of Apple's clocks differ, and it has begun.
        let ahead = purchasedAt.milliseconds(since: firstSignedAt)
        let isClockDifference = !record.isRenewal && ahead > 0 && ahead <= StatusPolicy.clockDifferenceSeconds * 1000
        start = isClockDifference ? firstSignedAt : purchasedAt
        chargedAt = min(start, firstSignedAt)
        endBySuccession = expiresAt
        var reversed: [ReversedRevocation] = []
        var standing: (from: Timestamp, toldAt: Timestamp)?
        for record in records {
            if let revokedAt = record.revokedAt {
                // A further record with a later date does not take back that it was refunded by then.
                standing = (min(standing?.from ?? revokedAt, revokedAt), standing?.toldAt ?? record.asOf)
            } else if let ended = standing {
                if ended.from < record.asOf {
                    reversed.append(.init(from: ended.from, toldAt: ended.toldAt, until: record.asOf))
                }
                standing = nil
            }
        }
        revocationToldAt = standing?.toldAt
        self.reversed = reversed
        record.revokedAt = standing?.from
        self.record = record
        end = min(expiresAt, record.revokedAt ?? .distantFuture)
    }

    /// A known purchase takes its place.
    mutating func isSucceeded(by other: Period) {
        successor = (other.start, other.chargedAt)
        end = min(expiresAt, other.start, record.revokedAt ?? .distantFuture)
    }

    /// One takes its place that was never heard of, and had been made by an instant.
    mutating func isSucceeded(byUnheardFrom instant: Timestamp) {
        guard start <= instant, instant < expiresAt else { return }
        unheardFrom = min(unheardFrom ?? instant, instant)
        end = min(end, instant)
    }

    /// A purchase that is not known takes its place, and ends at an instant.
    mutating func isSucceeded(at instant: Timestamp) {
        endBySuccession = min(expiresAt, instant)
        end = min(endBySuccession, record.revokedAt ?? .distantFuture)
    }

    /// A known purchase was going to take its place, until that was replaced itself before it began.
    mutating func wasToBeSucceeded(by other: Period, until replacedAt: Timestamp) {
        formerSuccessors.append((other.start, other.chargedAt, replacedAt))
    }

    var isRevoked: Bool { record.revokedAt != nil }

    /// Whether it is revoked, or once was.
    var wasRevoked: Bool { isRevoked || !reversed.isEmpty }

    func isRevoked(at instant: Timestamp) -> Bool {
        if let revokedAt = record.revokedAt, revokedAt <= instant { return true }
        return reversed.contains { $0.from <= instant && instant < $0.until }
    }

    /// Whether it counts for nothing at an instant, and ever after.
    func isReplaced(at instant: Timestamp) -> Bool { replacedAt.map { $0 <= instant } ?? false }

    /// Whether any record of it gives this end. Renewal info that was signed before Apple moved the end names the old one.
    func lasts(until date: Timestamp) -> Bool { expiresAt == date || formerEnds.contains(date) }

    /// Whether both are parts of one period: neither takes the other's place, and it is revoked when all are.
    func isPart(of other: Period) -> Bool {
        isPart && other.isPart && expiresAt == other.expiresAt && record.productID == other.record.productID
    }

    func contains(_ instant: Timestamp) -> Bool {
        start <= instant && instant < end && !isRevoked(at: instant) && !isReplaced(at: instant)
    }

    /// The same period if no purchase took its place.
    var unreplaced: Period {
        var period = self
        period.successor = nil
        period.formerSuccessors = []
        period.unheardFrom = nil
        period.endBySuccession = expiresAt
        period.end = min(expiresAt, record.revokedAt ?? .distantFuture)
        return period
    }

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

    /// The same but for refunds.
    func endBeforeRefund(asSeenAt instant: Timestamp) -> Timestamp {
        var end = endBySuccession
        if let successor, successor.chargedAt <= instant { end = min(expiresAt, successor.start) }
        for former in formerSuccessors where former.chargedAt <= instant && instant < former.replacedAt {
            end = min(end, former.start)
        }
        if let unheardFrom, unheardFrom <= instant { end = min(end, unheardFrom) }
        return end
    }
}

extension TransactionFact {
    /// Whether it makes a period of an auto-renewable subscription.
    var isUsablePeriod: Bool { kind == .autoRenewableSubscription && purchasedAt != nil && expiresAt != nil }

    /// The key shared by all records of one paid period. Line items and transactions are numbered independently: the
    /// prefix keeps them apart.
    var periodKey: String { webOrderLineItemID.map { "w\($0)" } ?? "t\(transactionID)" }
}
