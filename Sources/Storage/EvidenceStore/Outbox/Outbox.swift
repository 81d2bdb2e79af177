public import Postgres

/// What Apple posted, in PostgreSQL: it goes in as signed bytes, workers claim it, and each notification is settled once.
///
/// The bytes are evidence: append-only, packed, dropped by whole days. What is still to be done about them is a ``Queue``,
/// what could not be done a table of dead letters. What settles a row takes a ``PostgresSession``, so that it commits
/// together with the effect it stands for; what stands alone takes the pool.
public struct Outbox: Sendable {
    let pool: PostgresPool
    /// What is still to be done.
    package let queue: Queue
    /// What storing need not store again, and what reading puts back.
    let headers = SignatureHeaders()

    /// The outbox behind a pool of connections. Copies share what they learn of ``SignatureHeaders``.
    public init(_ pool: PostgresPool) {
        self.pool = pool
        queue = Queue(Self.table, pool)
    }

    /// Where its queue is; rows are put there by ``store(_:from:)``, ``store(_:)`` and ``replay(_:perSecond:by:why:)``.
    package static let table = QueueTable(
        name: "storehook.outbox_queue", statements: "outbox", channel: "storehook_outbox")

    /// The longest JWS that is stored, in bytes, packed or not. Apple's are under 20 kB; the schema checks the same number.
    package static let maximumBodySize = 262_144
}
