import EvidenceStore
import Postgres

/// A row that PostgreSQL refused to have settled.
struct RefusedRow: Sendable {
    var row: PreparedBatch.Row
    var error: any Error
    /// Whether it was tried alone, so that no other row can be to blame.
    var isAlone: Bool
    let blame: RefusalBlame

    init(_ row: PreparedBatch.Row, _ error: any Error, isAlone: Bool) {
        self.row = row
        self.error = error
        self.isAlone = isAlone
        blame = RefusalBlame(error)
    }

    var id: Int64 { row.claimed.id }
    /// The error's code.
    var reason: ReasonCode { (error as? PostgresError).map { ReasonCode($0) } ?? .applyFailed }
    /// Whether the row may be to blame by itself.
    var isItsOwn: Bool { isAlone && blame == .row }
    /// Whether a retry may succeed without a repair, and the row itself may be the cause of the failure.
    var isPassing: Bool { isAlone && blame == .passing }
}
