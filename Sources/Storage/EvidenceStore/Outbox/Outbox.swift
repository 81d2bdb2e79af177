public import Postgres

/// What Apple posted, in PostgreSQL: it is stored as signed bytes, workers claim it, and each is settled once.
///
/// The bytes are evidence: append-only, packed, dropped by whole days. What is still to be processed is a ``Queue``,
/// what could not be processed a table of dead letters. Calls that settle a row take a ``PostgresSession``, so that
/// they commit together with their effect; the others use the pool.
public struct Outbox: Sendable {
    let pool: PostgresPool
    /// What is still to be processed.
    package let queue: Queue
    /// The headers that storing leaves out and reading puts back.
    let headers = SignatureHeaders()

    /// The outbox behind a pool of connections. Copies share what they learn of ``SignatureHeaders``.
    public init(_ pool: PostgresPool) {
        self.pool = pool
        queue = Queue(Self.table, pool)
    }

    /// Its queue's table; ``store(_:from:)``, ``store(_:)`` and ``replay(_:perSecond:by:why:)`` insert rows there.
    package static let table = QueueTable(
        name: "storehook.outbox_queue", statements: "outbox", channel: "storehook_outbox")

    /// The longest JWS that is stored, in bytes, packed or not. Apple's are under 20 kB; the schema checks the same number.
    package static let maximumBodySize = 262_144
}
