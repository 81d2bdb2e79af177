import Foundation
import Postgres

extension AccountStore {
    /// How long a page waits for a locked row. It holds other rows meanwhile, which workers wait for: then it releases
    /// them, and is tried again.
    private static let lockTimeout = "200ms"
    /// The limit for all rows of a page together, because each of them may become free within its own limit. Reading them from disk counts as
    /// well: the next time they are in memory.
    private static let pageTimeout = Duration.seconds(1)

    /// The time that a page has left to lock its rows.
    struct PageWait: Sendable {
        /// The time is over, and the page is not locked.
        struct Over: Error {}

        private let end = ContinuousClock.now + AccountStore.pageTimeout

        /// Runs a statement that locks rows, with a deadline. The server keeps the deadline: over an encrypted
        /// connection it cannot be asked to cancel, and it notices a closed connection only seconds later.
        func spend(_ session: borrowing PostgresSession, _ hold: (Duration) throws -> Void) throws {
            let left = Int64(ContinuousClock.now.duration(to: end) / .milliseconds(1))
            guard left > 0 else { throw Over() }
            let usual: String = try session.query(
                PostgresQuery(
                    "catalog.page_timeout",
                    """
                    select current_setting('statement_timeout'), set_config('statement_timeout', \("\(left)ms"), true)
                    """)
            ).one().decode(0)
            do {
                try hold(.milliseconds(left) + Self.grace)
            } catch let error as PostgresError where error.kind == .timeout || error.sqlState == .queryCanceled {
                throw Over()
            }
            try session.query(
                PostgresQuery("catalog.usual_timeout", "select set_config('statement_timeout', \(usual), true)"))
        }

        /// How much later than the server the client gives up.
        private static let grace = Duration.milliseconds(500)
    }

    /// Runs a step of applying in a transaction that ends where it would have to wait, and is tried again.
    /// - Parameters:
    ///   - patience: after so long without success it throws ``ApplyRefusal/heldUp(seconds:by:)``.
    ///   - body: locks rows that others may wait for through the given ``PageWait``.
    func step<T: Sendable>(
        _ name: String, isDurable: Bool = false, patience: Duration,
        _ body: @Sendable (borrowing PostgresSession, PageWait) throws -> T
    ) async throws -> T {
        let end = ContinuousClock.now + patience
        while true {
            do {
                return try await pool.withTransaction(Self.holding(name, isDurable: isDurable)) { session in
                    try session.query(
                        PostgresQuery(
                            "catalog.lock_timeout", "select set_config('lock_timeout', \(Self.lockTimeout), true)"))
                    return try body(session, PageWait())
                }
            } catch let error where Self.isHeldUp(error) {
                guard ContinuousClock.now < end else {
                    throw ApplyRefusal.heldUp(seconds: patience.components.seconds, by: try await longestOpen())
                }
                try await Task.sleep(for: .milliseconds(Int64.random(in: 100...300)))
            }
        }
    }

    private static func isHeldUp(_ error: any Error) -> Bool {
        if error is PageWait.Over { return true }
        let state = (error as? PostgresError)?.sqlState
        return state == .lockNotAvailable || state == .deadlockDetected
    }

    /// Waits for every transaction that has written something and read `catalog_state` when this begins.
    ///
    /// A transaction that reads it holds the weakest lock on `catalog_state` until it ends, and one that has written
    /// something holds a lock on its transaction ID. Other transactions have only one of these, however long they stay
    /// open: a dump has no ID, and an unrelated session has never read the table.
    func waitForWriters(patience: Duration) async throws {
        let writers = try await pool.query(
            PostgresQuery(
                "catalog.writers",
                """
                with lock as materialized (select * from pg_locks where granted)
                select distinct l.virtualtransaction
                  from lock l join lock x using (virtualtransaction)
                 where l.locktype = 'relation' and l.relation = 'storehook.catalog_state'::regclass
                   and l.database = (select oid from pg_database where datname = current_database())
                   and x.locktype = 'transactionid' and x.mode = 'ExclusiveLock'
                   and l.pid is distinct from pg_backend_pid()
                """)
        ).map { try $0.decode(0, as: String.self) }
        guard !writers.isEmpty else { return }
        let end = ContinuousClock.now + patience
        while true {
            let open = try await pool.query(
                PostgresQuery(
                    "catalog.open_writers",
                    """
                    select distinct virtualtransaction, pid from pg_locks
                     where granted and virtualtransaction = any(\(writers))
                    """)
            ).map { try $0.decode(1, as: Int32?.self) }
            if open.isEmpty { return }
            guard ContinuousClock.now < end else {
                throw ApplyRefusal.heldUp(
                    seconds: patience.components.seconds, by: try await describe(open.compactMap(\.self)))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The first of some server processes, for people.
    private func describe(_ processes: [Int32]) async throws -> String? {
        try await pool.query(
            PostgresQuery(
                "catalog.holder",
                """
                select concat_ws(', ', 'process ' || pid, 'user ' || usename, nullif(application_name, ''), state,
                                 'since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
                  from pg_stat_activity where pid = any(\(processes))
                 order by xact_start nulls last limit 1
                """)
        ).first?.decode(0, as: String.self)
    }

    /// The transaction with an ID that has been open for longest.
    private func longestOpen() async throws -> String? {
        try await describe(
            try await pool.query(
                PostgresQuery(
                    "catalog.longest_open",
                    """
                    select pid from pg_stat_activity
                     where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()
                     order by xact_start nulls last limit 1
                    """)
            ).map { try $0.decode(0, as: Int32.self) })
    }
}
