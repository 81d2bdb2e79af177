/// Brings a schema up to date, and tells whether it is.
///
/// All pending migrations run in one transaction under an advisory lock, so that any number of migrators may start at
/// once: one applies them, the others then find nothing to do. Each is recorded in `schema_migrations` with the SHA-256
/// of its text, computed by the database.
public struct Migrator: Sendable {
    /// The key of the transaction-level advisory lock under which migrations run: "storehok" in ASCII.
    public static let lockKey: Int64 = 0x7374_6F72_6568_6F6B

    private let schema: String
    private let migrations: [Migration]
    private let needed: Int

    /// A migrator for a schema, which it creates if need be.
    ///
    /// - Throws: ``PostgresError`` (`.configuration`) if the schema's name is no plain lower-case identifier, there are no
    ///   migrations, or two have the same version.
    public init(schema: String = "storehook", migrations: [Migration]) throws(PostgresError) {
        guard isPlainIdentifier(schema) else {
            throw PostgresError(.configuration, "a schema's name is made of a-z, 0-9 and _, at most 63 of them")
        }
        let sorted = migrations.sorted { $0.version < $1.version }
        guard let last = sorted.last, Set(sorted.map(\.version)).count == sorted.count,
            sorted.allSatisfy({ Int32(exactly: $0.version) != nil && $0.version > 0 })
        else {
            throw PostgresError(.configuration, "migrations need versions from 1 on, each used once")
        }
        self.schema = schema
        self.migrations = sorted
        needed = last.version
    }

    /// Applies what is pending, all or nothing, and returns it.
    ///
    /// - Parameters:
    ///   - connection: A connection whose user may create the schema, or owns it.
    ///   - deadline: For everything, including the wait for another migrator.
    /// - Throws: ``SchemaMismatch`` if the schema is newer than this program or was made by other migrations, or
    ///   ``PostgresError``.
    public func migrate(
        on connection: PostgresConnection, deadline: Duration = .seconds(3600)
    ) async throws -> [Migration] {
        try await connection.withTransaction(TransactionOptions(deadline: deadline, name: "migrate")) { session in
            // Each statement of a read-committed transaction sees what was committed before it began, hence everything
            // that the migrator before this one did.
            try session.query(
                PostgresQuery("migrate.lock", "select pg_advisory_xact_lock(\(Self.lockKey))"), deadline: deadline)
            try createTable(in: session)
            let state = try judge(try session.query(comparison))
            if case .newer = state.schema { throw SchemaMismatch(state: state.schema) }
            if case .changed = state.schema { throw SchemaMismatch(state: state.schema) }
            let pending = migrations.filter { !state.applied.contains($0.version) }
            for migration in pending {
                let name = "migration \(migration.version) (\(migration.name))"
                try session.executeScript(migration.sql, name: name, deadline: deadline)
                try session.query(
                    PostgresQuery(
                        "migrate.record",
                        """
                        insert into \(unescaped: table) (version, name, checksum)
                        values (\(Int32(clamping: migration.version)), \(migration.name),
                            encode(sha256(convert_to(\(migration.sql), 'UTF8')), 'hex'))
                        """))
            }
            return pending
        }
    }

    /// Applies what is pending over a pool; see ``migrate(on:deadline:)-(PostgresConnection,_)``.
    public func migrate(on pool: PostgresPool, deadline: Duration = .seconds(3600)) async throws -> [Migration] {
        try await pool.withConnection { try await migrate(on: $0, deadline: deadline) }
    }

    /// Tells how the schema stands, by one SELECT on `schema_migrations`.
    public func check(on connection: PostgresConnection) async throws -> SchemaState {
        do {
            return try judge(try await connection.query(comparison)).schema
        } catch let error as PostgresError where [.undefinedTable, .invalidSchemaName].contains(error.sqlState) {
            return .missing(needed: needed)
        }
    }

    /// Tells how the schema stands, over a pool.
    public func check(on pool: PostgresPool) async throws -> SchemaState {
        try await pool.withConnection { try await check(on: $0) }
    }

    private var table: String { "\"\(schema)\".schema_migrations" }

    private func createTable(in session: borrowing PostgresSession) throws {
        // IF NOT EXISTS asks for the right to create even where there is nothing to do, so look first.
        let exists = try session.query(
            PostgresQuery(
                "migrate.find",
                "select 1 from pg_tables where schemaname = \(schema) and tablename = 'schema_migrations'"))
        guard exists.isEmpty else { return }
        let hasSchema = try session.query(
            PostgresQuery("migrate.find_schema", "select 1 from pg_namespace where nspname = \(schema)"))
        if hasSchema.isEmpty {
            try session.query(PostgresQuery("migrate.create_schema", "create schema \"\(unescaped: schema)\""))
        }
        try session.query(
            PostgresQuery(
                "migrate.create_table",
                """
                create table \(unescaped: table) (
                    version integer primary key check (version > 0),
                    name text not null,
                    checksum text not null,
                    applied_at timestamptz not null default now()
                )
                """))
    }

    /// What was applied, each with whether this program has the same: null where it has none under that number.
    private var comparison: PostgresQuery {
        PostgresQuery(
            "migrate.compare",
            """
            select applied.version, applied.checksum = encode(sha256(convert_to(known.sql, 'UTF8')), 'hex')
            from \(unescaped: table) as applied
            left join unnest(\(migrations.map { Int32(clamping: $0.version) }), \(migrations.map(\.sql)))
                as known (version, sql) using (version)
            order by applied.version
            """)
    }

    private func judge(_ rows: PostgresRows) throws(PostgresError) -> (schema: SchemaState, applied: Set<Int>) {
        var applied: Set<Int> = []
        var changed: Int?
        var unknown: Int?
        for row in rows {
            let (version, isSame) = try row.values(Int.self, Bool?.self)
            applied.insert(version)
            if isSame == nil { unknown = version }
            if isSame == false { changed = changed ?? version }
        }
        if let unknown { return (.newer(found: unknown, needed: needed), applied) }
        if let changed { return (.changed(version: changed), applied) }
        if migrations.allSatisfy({ applied.contains($0.version) }) { return (.current(version: needed), applied) }
        return (applied.max().map { .older(found: $0, needed: needed) } ?? .missing(needed: needed), applied)
    }
}
