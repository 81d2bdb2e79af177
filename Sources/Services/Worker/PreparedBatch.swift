import AppStorePayloads
import EvidenceVerification
import Foundation
import Ledger
import Logging
import Outbox
import Queue

/// A claimed batch, verified: for each row, what is to be done with it.
struct PreparedBatch: Sendable {
    /// A row and what is to be done with it.
    struct Row: Sendable {
        var claimed: ClaimedNotification
        var verdict: EvidenceVerdict
    }

    var token: UUID
    var rows: [Row]

    var ids: [Int64] { rows.map(\.claimed.id) }
}

extension PreparedBatch.Row {
    /// What every log line about this notification carries, beside the worker's name: nothing that was posted but its UUID.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["outbox_id": "\(claimed.id)", "attempt": "\(claimed.attempts)"]
        switch verdict {
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
            guard case .apply(let entry) = row.verdict, let body = row.claimed.body else { return [] }
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
