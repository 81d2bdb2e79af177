package import Base

extension ServerSurvey {
    /// What keeps VACUUM from removing dead rows of this database.
    public struct HorizonPin: Sendable, Hashable {
        /// What it is.
        public enum Kind: String, Sendable, Hashable {
            /// A session, with or without a transaction of its own.
            case session
            /// A prepared transaction.
            case prepared
            /// A replication slot.
            case slot
        }

        /// What it is.
        public var kind: Kind
        /// The process id, the prepared transaction's gid, or the slot's name.
        public var name: String
        /// Its user and what it does, as far as this user may see it.
        public var detail: String
        /// For how long; nil where that cannot be seen.
        public var age: Duration?
        /// How many transaction ids have been used since.
        public var transactions: Int64
    }

    /// A replication slot.
    public struct Slot: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Whether it is being read at this moment.
        public var isRead: Bool
        /// Bytes of WAL that the server keeps for it; nil where it keeps none any more.
        public var keptBytes: Int64?
        /// How many transaction ids have been used since the oldest dead row that it keeps VACUUM from removing; nil where it keeps none.
        public var transactions: Int64?
    }

    /// What holds the vacuum horizon back, the oldest first: VACUUM cannot remove dead rows newer than it
    /// (PostgreSQL's manual, 25.1 "Routine Vacuuming" and 28.2 "pg_stat_activity"). Other databases'
    /// sessions do not count.
    public func horizon() async throws -> [HorizonPin] {
        try await pool.query(
            PostgresQuery(
                "survey.horizon",
                """
                select kind, name, detail, seconds, transactions
                  from (select 'session' as kind, pid::text as name,
                               concat_ws(', ', 'user ' || usename, nullif(application_name, ''), state) as detail,
                               extract(epoch from now() - xact_start)::double precision as seconds,
                               greatest(age(backend_xmin), age(backend_xid))::bigint as transactions
                          from pg_stat_activity
                         where pid <> pg_backend_pid() and (backend_xmin is not null or backend_xid is not null)
                           and backend_type <> 'autovacuum worker'
                           and (datname = current_database() or datname is null)
                        union all
                        select 'prepared', gid, 'user ' || owner, extract(epoch from now() - prepared)::double precision,
                               age(transaction)::bigint
                          from pg_prepared_xacts where database = current_database()
                        union all
                        select 'slot', slot_name, case when active then 'in use' else 'not in use' end, null,
                               greatest(age(xmin), age(catalog_xmin))::bigint
                          from pg_replication_slots where xmin is not null or catalog_xmin is not null) pins
                 order by seconds desc nulls last, transactions desc
                """)
        ).map { row in
            HorizonPin(
                kind: try row.decode("kind", among: HorizonPin.Kind.self), name: try row.decode("name"),
                detail: try row.decode("detail"), age: try row.decode("seconds", as: Double?.self).map { .seconds($0) },
                transactions: try row.decode("transactions"))
        }
    }

    /// The server's replication slots, those that keep most first. Every user may see them.
    public func slots() async throws -> [Slot] {
        try await pool.query(
            PostgresQuery(
                "survey.slots",
                """
                select slot_name::text as name, active as is_read,
                       case when wal_status is distinct from 'lost' then greatest(pg_wal_lsn_diff(
                           case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
                           restart_lsn), 0)::bigint end as kept_bytes,
                       greatest(age(xmin), age(catalog_xmin))::bigint as transactions
                  from pg_replication_slots order by 3 desc nulls last, 1
                """)
        ).map { row in
            Slot(
                name: try row.decode("name"), isRead: try row.decode("is_read"),
                keptBytes: try row.decode("kept_bytes"),
                transactions: try row.decode("transactions"))
        }
    }

    /// How long ago the oldest prepared transaction of this database was prepared; nil where there is none.
    public func oldestPrepared() async throws -> Duration? {
        try await pool.query(
            PostgresQuery(
                "survey.prepared",
                """
                select extract(epoch from clock_timestamp() - min(prepared))::double precision from pg_prepared_xacts
                 where database = current_database()
                """)
        ).one().decode(0, as: Double?.self).map { .seconds($0) }
    }
}

extension ServerSurvey: MonitoredStore {
    /// A relation that each role may read: the survey itself asks for what every user may see.
    package static let monitored = "schema_migrations"

    /// What holds the vacuum horizon back or fills the disk without any connection.
    package func samples() async throws -> [MetricSample] {
        let prepared = try await oldestPrepared()
        let unread = try await slots().filter { !$0.isRead }
        return [
            MetricSample("storehook_database_prepared_seconds", [], prepared ?? .zero),
            MetricSample("storehook_database_slot_bytes", [], Double(unread.compactMap(\.keptBytes).max() ?? 0)),
            MetricSample(
                "storehook_database_slot_transactions", [], Double(unread.compactMap(\.transactions).max() ?? 0)),
        ]
    }
}
