public import Postgres

/// The queue in PostgreSQL: what Apple posted goes in, workers claim it, and each notification is settled once.
///
/// The database's clock is the only clock: leases, retries and due times are computed where the rows are. What settles a
/// row takes a ``PostgresSession``, so that it commits together with the effect it stands for; what stands alone takes
/// the pool.
public struct Outbox: Sendable {
    let pool: PostgresPool
    /// What storing need not store again, and what reading puts back.
    let headers = SignatureHeaders()

    /// The queue behind a pool of connections. Copies share what they learn of ``SignatureHeaders``.
    public init(_ pool: PostgresPool) { self.pool = pool }

    /// The channel on which storing is announced. A hint only: one notice a commit, and workers poll all the same.
    public static let channel = "storehook_outbox"

    /// The longest JWS that is stored, in bytes, packed or not. Apple's are under 20 kB; the schema checks the same number.
    public static let maximumBodySize = 262_144
}
