package import Base
import Postgres

extension Outbox: MonitoredStore {
    /// See ``depth()``.
    package static let monitored = "queue_depth"

    /// The queue by state.
    package func samples() async throws -> [MetricSample] {
        try await depth().flatMap { depth in
            let state = [(name: "state", value: depth.state.rawValue)]
            return [
                MetricSample("storehook_queue_depth", state, Double(depth.count)),
                MetricSample("storehook_queue_oldest_age_seconds", state, depth.oldestAge),
            ]
        }
    }
}

extension Outbox {
    /// The queue by state: always the four rows ready, scheduled, leased, dead.
    package func depth() async throws -> [QueueDepth] {
        try await pool.query(
            PostgresQuery(
                "outbox.depth",
                "select state, count, oldest_age_seconds, reason, next_due_at from storehook.queue_depth")
        ).map { try QueueDepth($0) }
    }

    /// Where every stored notification is: past days as they were counted, the rest counted now.
    /// - Parameter audit: counts everything from its rows, which takes seconds for each million.
    package func conservation(audit: Bool = false) async throws -> Conservation {
        let rows = try await pool.query(
            PostgresQuery(
                audit ? "outbox.conservation_audit" : "outbox.conservation",
                """
                select received, pending, applied, duplicate, parked, dead, discarded, missing, doubled, acknowledged,
                       without_bytes, waiting_for_header
                  from storehook.\(unescaped: audit ? "conservation_audit" : "conservation")
                """))
        let row = try rows.one()
        return try Conservation(
            received: row.decode(0), pending: row.decode(1), applied: row.decode(2), duplicate: row.decode(3),
            parked: row.decode(4), dead: row.decode(5), discarded: row.decode(6), missing: row.decode(7),
            doubled: row.decode(8), acknowledged: row.decode(9), withoutBytes: row.decode(10),
            waitingForHeader: row.decode(11))
    }

    /// How many were received and processed in the last minute.
    package func rate() async throws -> QueueRate {
        let rows = try await pool.query(
            PostgresQuery(
                "outbox.rate",
                """
                select (select count(*) from storehook.outbox where received_at > now() - interval '1 minute'),
                       (select count(*) from storehook.notifications where applied_at > now() - interval '1 minute')
                       + (select count(*) from storehook.records where applied_at > now() - interval '1 minute')
                """))
        let row = try rows.one()
        return try QueueRate(receivedLastMinute: row.decode(0), appliedLastMinute: row.decode(1))
    }

    /// Whether storing would work now: the database is reachable, has the queue's tables, and takes writes.
    /// - Parameter deadline: for the answer; by default the pool's.
    /// - Throws: `PostgresError` if not; with the SQLSTATE `readOnlyTransaction` where the database takes no writes.
    package func ping(deadline: Duration? = nil) async throws {
        let isReadOnly: Bool = try await pool.query(
            PostgresQuery(
                "outbox.ping",
                """
                select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean, 'storehook.outbox_queue'::regclass::text
                """), deadline: deadline
        ).one().decode(0)
        if isReadOnly {
            throw PostgresError(
                .server(.readOnlyTransaction), "the database takes no writes", operation: "outbox.ping")
        }
    }
}
