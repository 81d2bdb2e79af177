/// Looks at a server from outside, for diagnosis. Every question is a SELECT.
public struct ServerSurvey: Sendable {
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

    let pool: PostgresPool

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

    /// The server's version.
    public func version() async throws -> ServerVersion {
        let number: Int32 = try await pool.query(
            PostgresQuery("survey.version", "select current_setting('server_version_num')::int")
        ).one().decode(0)
        return ServerVersion(number: Int(number))
    }

    /// The user that statements run as, as a statement names it.
    public func quotedUser() async throws -> String {
        try await pool.query(PostgresQuery("survey.quoted_user", "select quote_ident(current_user)")).one().decode(0)
    }

    /// Who owns the program's schema; where there is none, who owns the database.
    public func owner() async throws -> String {
        try await pool.query(
            PostgresQuery(
                "survey.owner",
                """
                select pg_get_userbyid(coalesce((select nspowner from pg_namespace where nspname = 'storehook'), datdba))::text
                  from pg_database where datname = current_database()
                """)
        ).one().decode(0)
    }

    /// Whether this user has a role; false where there is no such role.
    public func isMember(of role: String) async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "survey.is_member",
                "select coalesce(bool_or(pg_has_role(oid, 'usage')), false) from pg_roles where rolname = \(role)")
        ).one().decode(0)
    }

    /// Whether this user sees what other users' sessions do, and for how long.
    public func seesSessions() async throws -> Bool {
        try await pool.query(
            PostgresQuery("survey.sees_sessions", "select pg_has_role('pg_read_all_stats', 'usage')")
        ).one().decode(0)
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
}
