import AppStorePayloads
import AppStoreVerification
import Foundation
import Ledger
import Logging
import Outbox
import Postgres
import Queue

/// A claimed batch, verified: for each row, what is to be done with it.
struct PreparedBatch: Sendable {
    /// What is to be done with a row.
    enum Disposition: Sendable {
        /// Verified: its facts go into the ledger.
        case apply(LedgerEntry)
        /// Refused for good.
        case bury(DeadLetterDraft)
        /// Could not be verified now; another time it may.
        case reschedule(reason: String)
    }

    /// A row and what is to be done with it.
    struct Row: Sendable {
        var claimed: ClaimedNotification
        var disposition: Disposition
    }

    var token: UUID
    var rows: [Row]

    var ids: [Int64] { rows.map(\.claimed.id) }
}

extension PreparedBatch.Row {
    /// What every log line about this notification carries, beside the worker's name: nothing that was posted but its UUID.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["outbox_id": "\(claimed.id)", "attempt": "\(claimed.attempts)"]
        switch disposition {
        case .apply(let entry): metadata["notification_uuid"] = "\(entry.notification.uuid)"
        case .bury(let letter):
            if let uuid = letter.notificationUUID {
                metadata["notification_uuid"] = "\(uuid.uuidString.lowercased())"
            }
        case .reschedule: break
        }
        return metadata
    }
}

extension PreparedBatch {
    /// Every JWS in it that was verified: the notifications, and those inside them.
    var verifiedTexts: [[UInt8]] {
        rows.flatMap { row -> [[UInt8]] in
            guard case .apply(let entry) = row.disposition, let body = row.claimed.body else { return [] }
            let parts: [String?]
            switch entry.notification.part {
            case .data(let data): parts = [data.signedTransactionInfo, data.signedRenewalInfo]
            case .appData(let data): parts = [data.signedAppTransactionInfo]
            case .summary, .externalPurchaseToken, .none: parts = []
            }
            return [body] + parts.compactMap { $0.map { Array($0.utf8) } }
        }
    }
}

extension PreparedBatch.Disposition {
    /// Verifies a row. Permanent and transient are told apart here and nowhere else: of all reasons to refuse a signature,
    /// only a revocation responder that is away can be another one tomorrow.
    init(verifying claimed: ClaimedNotification, by verifier: Verifier) {
        if let why = claimed.unreadable {
            self = .bury(
                DeadLetterDraft(
                    claimed, category: .unprocessable, reason: "body_unreadable", message: why.description))
            return
        }
        guard let body = claimed.body else {
            self = .bury(
                DeadLetterDraft(
                    claimed, category: .unprocessable, reason: "body_missing",
                    message: "the stored bytes are gone: their partition was dropped before the notification was done"))
            return
        }
        do throws(VerificationFailure) {
            self = .apply(
                LedgerEntry(
                    outboxID: claimed.id, receivedAt: claimed.receivedAt, try verifier.verifyNotification(body)))
        } catch {
            if error.code == .revocationUnknown {
                self = .reschedule(reason: error.code.rawValue)
                return
            }
            let claims = UnverifiedSummary.read(body)
            self = .bury(
                DeadLetterDraft(
                    claimed, category: .unverified, reason: error.code.rawValue, message: error.message,
                    notificationUUID: claims.notificationUUID.map(UUID.init),
                    type: claims.notificationType?.rawValue, subtype: claims.subtype?.rawValue))
        }
    }
}

extension LedgerEntry {
    /// What the ledger is told of a verified notification.
    init(outboxID: Int64, receivedAt: PostgresTimestamp, _ verified: VerifiedNotification) {
        self.init(
            outboxID: outboxID, receivedAt: receivedAt,
            environment: verified.environment.rawValue, bundleID: verified.bundleId,
            notification: verified.payload,
            transaction: Self.signed(verified.transaction, verified.digests.transaction),
            renewal: Self.signed(verified.renewal, verified.digests.renewal))
    }

    private static func signed<Payload>(_ payload: Payload?, _ digest: Fingerprint?) -> Signed<Payload>? {
        guard let payload, let digest else { return nil }
        return Signed(payload, digest: digest.bytes)
    }
}
