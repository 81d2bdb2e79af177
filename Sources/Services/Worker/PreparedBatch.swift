import AppStorePayloads
import EvidenceStore
import Foundation
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions

/// A claimed batch, verified, with a verdict for each row.
struct PreparedBatch: Sendable {
    /// What to do with a row.
    enum Verdict: Sendable {
        /// Its facts go into the ledger.
        case apply(LedgerEntry)
        /// It becomes a dead letter.
        case bury(DeadLetterDraft)
        /// It is put off.
        case reschedule(ReasonCode)
    }

    /// A row and its verdict.
    struct Row: Sendable {
        var claimed: ClaimedNotification
        var verdict: Verdict
    }

    var token: UUID
    /// Until when its rows are held at least.
    var leaseEnd: ContinuousClock.Instant
    var rows: [Row]
    /// When they were claimed, by the database's clock; nil where it was not asked.
    var claimedAt: PostgresTimestamp?

    var ids: [Int64] { rows.map(\.claimed.id) }
}

extension PreparedBatch.Row {
    /// A row with the result of its verification.
    init(_ claimed: ClaimedNotification, _ result: VerificationResult) {
        self.claimed = claimed
        switch result {
        case .verified(let entry): verdict = .apply(entry)
        case .refused(let refusal):
            verdict = .bury(
                DeadLetterDraft(
                    claimed, reason: refusal.reason, message: refusal.message,
                    notificationUUID: refusal.notificationUUID, type: refusal.type, subtype: refusal.subtype,
                    bundleID: refusal.bundleID))
        case .undecided(let reason): verdict = .reschedule(reason)
        }
    }
}

extension PreparedBatch.Row {
    /// The metadata of every log line about this notification, beside the worker's name: of the post only its UUID.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["outbox_id": "\(claimed.id)", "attempt": "\(claimed.attempts)"]
        if claimed.kind != .notification { metadata["kind"] = "\(claimed.kind.rawValue)" }
        if claimed.source != .webhook { metadata["source"] = "\(claimed.source.rawValue)" }
        switch verdict {
        case .apply(let entry):
            if let notification = entry.notification { metadata["notification_uuid"] = "\(notification.uuid)" }
        case .bury(let letter):
            if let uuid = letter.notificationUUID {
                metadata["notification_uuid"] = "\(uuid.uuidString.lowercased())"
            }
        case .reschedule: break
        }
        return metadata
    }
}

extension PreparedBatch.Row {
    /// The finding about its sender: genuine, or junk.
    /// - Parameter senders: the addresses that posted the rows.
    func finding(from senders: [Int64: String]) -> SenderFinding? {
        guard let sender = senders[claimed.id] else { return nil }
        return switch verdict {
        case .apply: SenderFinding(sender: sender, junkBytes: nil)
        case .bury(let letter) where letter.reason.isJunk:
            SenderFinding(sender: sender, junkBytes: Int64(claimed.body?.count ?? 0))
        case .bury, .reschedule: nil
        }
    }
}

extension PreparedBatch {
    /// Rows to put off, and rows to settle.
    func split() -> (rescheduled: PreparedBatch, ready: PreparedBatch) {
        var (rescheduled, ready) = (only([]), only([]))
        for row in rows {
            if case .reschedule = row.verdict { rescheduled.rows.append(row) } else { ready.rows.append(row) }
        }
        return (rescheduled, ready)
    }

    /// Its first and its second half.
    func halves() -> (PreparedBatch, PreparedBatch) {
        let middle = rows.count / 2
        return (only(Array(rows[..<middle])), only(Array(rows[middle...])))
    }

    /// A batch of these rows under the same lease.
    func only(_ rows: [Row]) -> PreparedBatch {
        PreparedBatch(token: token, leaseEnd: leaseEnd, rows: rows, claimedAt: claimedAt)
    }

    /// Every verified JWS in it: the notifications, those inside them, and the records that came by themselves.
    var verifiedTexts: [[UInt8]] {
        rows.flatMap { row -> [[UInt8]] in
            guard case .apply(let entry) = row.verdict, entry.kind.isJWS, let body = row.claimed.body else {
                return []
            }
            let parts: [String?]
            switch entry.notification?.part {
            case .data(let data): parts = [data.signedTransactionInfo, data.signedRenewalInfo]
            case .appData(let data): parts = [data.signedAppTransactionInfo]
            case .summary, .externalPurchaseToken, .some(.none), nil: parts = []
            }
            return [body] + parts.compactMap { $0.map { Array($0.utf8) } }
        }
    }
}
