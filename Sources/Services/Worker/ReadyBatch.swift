import EvidenceStore
import Foundation

/// A claimed batch on its way to being settled.
enum ReadyBatch: Sendable {
    /// Verified, to be settled while the next one is prepared.
    case verified(PreparedBatch)
    /// Not read yet: its previous worker did not survive it, or lost it.
    case suspect(ClaimedNotifications)

    var ids: [Int64] {
        switch self {
        case .verified(let batch): batch.ids
        case .suspect(let batch): batch.rows.map(\.id)
        }
    }

    /// Whether one of its rows may be what killed its worker.
    var isSuspect: Bool {
        switch self {
        case .verified: false
        case .suspect: true
        }
    }

    /// Until when its rows are held at least.
    var leaseEnd: ContinuousClock.Instant {
        switch self {
        case .verified(let batch): batch.leaseEnd
        case .suspect(let batch): batch.leaseEnd
        }
    }

    var token: UUID {
        switch self {
        case .verified(let batch): batch.token
        case .suspect(let batch): batch.token
        }
    }
}
