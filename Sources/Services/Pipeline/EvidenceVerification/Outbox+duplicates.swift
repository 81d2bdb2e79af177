import Base
package import EvidenceStore
import Foundation
package import Postgres
package import PurchaseStore

extension Outbox {
    /// Records rows whose evidence was recorded before, as ``Ledger/Ledger`` has found, in the transaction that applied it.
    package static func recordDuplicates(
        _ duplicates: [LedgerEntry], _ session: borrowing PostgresSession
    ) throws {
        let rows: [(id: Int64, notificationUUID: UUID?, digest: [UInt8]?)] = duplicates.map { entry in
            switch entry.identity {
            case .notification(let uuid): (entry.outboxID, UUID(uuid), nil)
            case .record(_, let digest): (entry.outboxID, nil, digest)
            }
        }
        try recordDuplicates(rows, session)
    }
}
