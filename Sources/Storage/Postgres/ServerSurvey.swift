/// Looks at a server from outside, for people who ask what is wrong with it. Every question is a SELECT.
public struct ServerSurvey: Sendable {
    /// What keeps VACUUM from removing dead rows of this database.
    public struct HorizonPin: Sendable, Hashable {
        /// What kind of thing it is.
        public enum Kind: String, Sendable, Hashable {
            /// A session, with or without a transaction of its own.
            case session
            /// A prepared transaction.
            case prepared
            /// A replication slot.
            case slot
        }

        /// What kind of thing it is.
        public var kind: Kind
        /// The process id, the prepared transaction's gid, or the slot's name.
        public var name: String
        /// Whose it is and what it does, as far as this user may see it.
        public var detail: String
        /// For how long; nil where that cannot be seen.
        public var age: Duration?
        /// How many transaction ids have been used since.
        public var transactions: Int64
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

    /// Who holds the vacuum horizon back, the oldest first: dead rows newer than it can be removed by nobody (PostgreSQL's
    /// manual, 25.1 "Routine Vacuuming" and 28.2 "pg_stat_activity"). Sessions of other databases do not count.
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
