/// Looks at a server from outside, for diagnosis. Every question is a SELECT.
public struct ServerSurvey: Sendable {
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

    /// How commits are replicated before they are acknowledged.
    public struct Replication: Sendable, Hashable {
        /// `synchronous_commit`, as sessions of this user begin.
        public var synchronousCommit: String
        /// `synchronous_standby_names`; empty where commits wait for no standby.
        public var standbys: String
        /// How many standbys are connected that commits wait for; nil where this user may not see it.
        public var connected: Int64?
        /// How long the slowest of them took lately; nil where that is not known.
        public var lag: Duration?
        /// `statement_timeout`, which ends that wait as well; nil where there is none.
        public var statementTimeout: Duration?
    }

    private let pool: PostgresPool

    /// A survey by way of a pool.
    public init(_ pool: PostgresPool) { self.pool = pool }

    /// The server's clock at this moment.
    public func clock() async throws -> PostgresTimestamp {
        try await pool.query(PostgresQuery("survey.clock", "select clock_timestamp()")).one().decode(0)
    }

    /// The user that statements run as.
    public func user() async throws -> String {
        try await pool.query(PostgresQuery("survey.user", "select current_user::text")).one().decode(0)
    }

    /// How dates are written in this session, `ISO, MDY` for instance.
    public func dateStyle() async throws -> String {
        try await pool.query(PostgresQuery("survey.date_style", "select current_setting('datestyle')")).one().decode(0)
    }

    /// Whether the server takes writes in this session: not a standby, nor one that is set to read only.
    public func takesWrites() async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "survey.takes_writes",
                "select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)")
        ).one().decode(0)
    }

    /// How full the server's notification queue is, from 0 to 1; at 1 every NOTIFY fails.
    public func noticeQueueUsage() async throws -> Double {
        try await pool.query(PostgresQuery("survey.notices", "select pg_notification_queue_usage()")).one().decode(0)
    }

    /// How commits are replicated before they are acknowledged.
    public func replication() async throws -> Replication {
        let row = try await pool.query(
            PostgresQuery(
                "survey.replication",
                """
                select current_setting('synchronous_commit') as synchronous_commit,
                       current_setting('synchronous_standby_names') as standbys,
                       case when pg_has_role('pg_read_all_stats', 'usage') then
                            (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')) end as connected,
                       (select extract(epoch from max(case current_setting('synchronous_commit')
                                                           when 'remote_apply' then replay_lag else flush_lag end))
                          from pg_stat_replication where sync_state in ('sync', 'quorum'))::double precision as lag,
                       (select setting::bigint from pg_settings where name = 'statement_timeout') as statement_timeout
                """)
        ).one()
        let milliseconds = try row.decode("statement_timeout", as: Int64.self)
        return Replication(
            synchronousCommit: try row.decode("synchronous_commit"), standbys: try row.decode("standbys"),
            connected: try row.decode("connected"),
            lag: try row.decode("lag", as: Double?.self).map { .seconds($0) },
            statementTimeout: milliseconds > 0 ? .milliseconds(milliseconds) : nil)
    }

    /// The size of this database in bytes, and the data directory's path on the server's own machine: nil where this user
    /// may not know it, or where the server is plainly on another machine.
    public func storage() async throws -> (bytes: Int64, directory: String?) {
        let row = try await pool.query(
            PostgresQuery(
                "survey.storage",
                """
                select pg_database_size(current_database()),
                       case when pg_has_role('pg_read_all_settings', 'usage')
                             and coalesce(inet_server_addr() <<= any('{127.0.0.0/8,::1}'::inet[]), true)
                            then current_setting('data_directory') end
                """)
        ).one()
        return try (row.decode(0), row.decode(1))
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
}
