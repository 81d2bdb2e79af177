import Base

/// Brings a schema up to date, and checks whether it is.
///
/// Each pending migration is a transaction of its own, so that no lock is held for longer than the one that needs it.
/// It begins with a lock on the table of migrations, which needs the right to write there: any number of migrators may
/// start at once, and one at a time applies what is pending by then. Each migration is recorded with the SHA-256 of
/// its text, computed by the database.
///
/// The table that records it determines which programs still fit. `schema_migrations` holds what a program must know:
/// a program that does not know a row there is refused. `schema_expansions` holds what it need not know
/// (``Migration/compatibleFrom``). A migration that leaves older programs behind moves the earlier expansions into the
/// first table, so that programs without knowledge of the second are refused in time as well.
public struct Migrator: Sendable {
    private let schema: String
    private let migrations: [Migration]
    private let needed: Int
    private let oldestFitting: Int

    /// How long a migration waits for a lock that others hold. Every other session queues behind the waiting one:
    /// after so long it gives way, and is tried again.
    static let lockTimeout: Duration = .milliseconds(900)
    /// How long it waits where no session queues behind it. An automatic VACUUM in the way gives up after
    /// `deadlock_timeout`, by default a second, which the wait above never reaches.
    static let displacementTimeout: Duration = .seconds(5)
    /// Pauses between tries, in which the queued sessions go on.
    private static let pauses = RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(15))

    /// A migrator for a schema, which it creates if need be.
    ///
    /// - Parameter oldestFitting: The oldest version of the schema that the program works with, where that is older than its own.
    /// - Throws: ``PostgresError`` (`.configuration`) if the schema's name is not a plain lower-case identifier, there
    ///   are no migrations, two have one version, or one is compatible with a version that does not precede it.
    public init(
        schema: String = "storehook", migrations: [Migration], oldestFitting: Int? = nil
    ) throws(PostgresError) {
        guard isPlainIdentifier(schema) else {
            throw PostgresError(.configuration, "a schema's name is made of a-z, 0-9 and _, at most 63 of them")
        }
        let sorted = migrations.sorted { $0.version < $1.version }
        guard let last = sorted.last, Set(sorted.map(\.version)).count == sorted.count,
            sorted.allSatisfy({ Int32(exactly: $0.version) != nil && $0.version > 0 })
        else {
            throw PostgresError(.configuration, "migrations need versions from 1 on, each used once")
        }
        if let odd = sorted.first(where: { !(1...$0.version).contains($0.compatibleFrom) }) {
            throw PostgresError(
                .configuration, "migration \(odd.version): compatible-from is a version from 1 to its own")
        }
        self.schema = schema
        self.migrations = sorted
        needed = last.version
        self.oldestFitting = oldestFitting ?? last.version
    }

    /// Applies what is pending, one after the other, each all or nothing, and returns it.
    ///
    /// - Parameters:
    ///   - connection: A connection whose user may create the schema, or owns it.
    ///   - deadline: For everything, including the wait for another migrator and for locks that others hold.
    ///   - waiting: Called each time that a lock was not available and the migration will be tried again.
    /// - Throws: ``SchemaMismatch`` if the schema is newer than this program or was made by other migrations, or
    ///   ``PostgresError``; migrations before the failing one stay applied.
    public func migrate(
        on connection: PostgresConnection, deadline: Duration = .seconds(3600),
        waiting: @escaping @Sendable (_ tries: Int) -> Void = { _ in }
    ) async throws -> [Migration] {
        let end = ContinuousClock.now + deadline
        var applied: [Migration] = []
        var tries = 0
        while true {
            do {
                try await createTables(on: connection, deadline: ContinuousClock.now.duration(to: end))
                // An automatic VACUUM in the way is displaced at every second try.
                let next = try await applyNext(
                    on: connection, displacing: !tries.isMultiple(of: 2),
                    deadline: ContinuousClock.now.duration(to: end))
                guard let next else { return applied }
                applied.append(next)
                tries = 0
            } catch let error as PostgresError
                where error.sqlState == .lockNotAvailable || error.sqlState == .deadlockDetected
            {
                tries += 1
                let pause = Self.pauses.pause(afterFailures: tries)
                guard ContinuousClock.now + pause < end else { throw error }
                waiting(tries)
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Applies the first of what is pending, and returns it; nil if nothing is.
    private func applyNext(
        on connection: PostgresConnection, displacing: Bool, deadline: Duration
    ) async throws -> Migration? {
        try await connection.withTransaction(TransactionOptions(deadline: deadline, name: "migrate")) { session in
            try prepare(session)
            // Each statement of a read-committed transaction sees what was committed before it began, hence all of the
            // previous migrator's work.
            try session.executeScript(
                "lock table \(table) in share row exclusive mode", name: "migrate.lock", deadline: deadline)
            let state = try judge(try session.query(comparison(withExpansions: true)))
            if case .newer = state.schema { throw SchemaMismatch(state: state.schema) }
            if case .changed = state.schema { throw SchemaMismatch(state: state.schema) }
            guard let migration = migrations.first(where: { !state.applied.contains($0.version) }) else { return nil }
            if displacing { try sendVacuumAway(in: session) }
            try session.executeScript(
                migration.sql, name: "migration \(migration.version) (\(migration.name))", deadline: deadline)
            for statement in recording(migration) { try session.query(statement) }
            return migration
        }
    }

    private func limitWait(to duration: Duration, in session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "migrate.lock_timeout",
                "select set_config('lock_timeout', \("\(Int64(duration / .milliseconds(1)))ms"), true)"))
    }

    /// Takes VACUUM's lock, and so keeps VACUUM away. The lock blocks no reader or writer, so the wait for it may
    /// outlast `deadlock_timeout`.
    private func sendVacuumAway(in session: borrowing PostgresSession) throws {
        try limitWait(to: Self.displacementTimeout, in: session)
        try session.executeScript(
            """
            do $$
            declare
                name regclass;
            begin
                for name in
                    select c.oid from pg_class c
                     where c.relnamespace = '"\(schema)"'::regnamespace and c.relkind in ('r', 'p')
                       and not c.relispartition
                     order by c.oid
                loop
                    execute format('lock table %s in share update exclusive mode', name);
                end loop;
            end
            $$
            """, name: "migrate.send_vacuum_away", deadline: Self.displacementTimeout * 4)
        try limitWait(to: Self.lockTimeout, in: session)
    }

    /// Applies what is pending over a pool; see ``migrate(on:deadline:)-(PostgresConnection,_)``.
    public func migrate(
        on pool: PostgresPool, deadline: Duration = .seconds(3600),
        waiting: @escaping @Sendable (_ tries: Int) -> Void = { _ in }
    ) async throws -> [Migration] {
        try await pool.withConnection { try await migrate(on: $0, deadline: deadline, waiting: waiting) }
    }

    /// Returns the schema's state, by a SELECT on each of its two tables.
    public func check(on connection: PostgresConnection) async throws -> SchemaState {
        do {
            // A schema that only older programs have migrated has one table.
            let hasExpansions = try await connection.query(expansionsExist).one().decode(0, as: Bool.self)
            return try judge(try await connection.query(comparison(withExpansions: hasExpansions))).schema
        } catch let error as PostgresError where [.undefinedTable, .invalidSchemaName].contains(error.sqlState) {
            return .missing(needed: needed)
        }
    }

    /// Returns the schema's state, over a pool.
    public func check(on pool: PostgresPool) async throws -> SchemaState {
        try await pool.withConnection { try await check(on: $0) }
    }

    private var table: String { "\"\(schema)\".schema_migrations" }

    private var expansions: String { "\"\(schema)\".schema_expansions" }

    private var expansionsExist: PostgresQuery {
        PostgresQuery("migrate.find_expansions", "select to_regclass(\(expansions)) is not null")
    }

    /// Makes the missing ones of the two tables.
    private func createTables(on connection: PostgresConnection, deadline: Duration) async throws {
        do {
            try await connection.withTransaction(TransactionOptions(deadline: deadline, name: "migrate")) { session in
                try prepare(session)
                try createTable(in: session)
                try createExpansions(in: session)
            }
        } catch let error as PostgresError
            where [.duplicateSchema, .duplicateTable, .uniqueViolation].contains(error.sqlState)
        {
            // Another migrator has just made one or both.
            try await connection.withTransaction(TransactionOptions(deadline: deadline, name: "migrate")) { session in
                try prepare(session)
                try createTable(in: session)
                try createExpansions(in: session)
            }
        }
    }

    /// What the scripts rely on, whatever is set for the user, the database or the server; for this transaction alone. In their
    /// literals a backslash stands for itself. An index on a large table takes longer than a statement may elsewhere: the
    /// migrator has a deadline of its own. `transaction_timeout` came with PostgreSQL 17.
    private func prepare(_ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "migrate.settings",
                """
                select set_config('standard_conforming_strings', 'on', true), set_config('statement_timeout', '0', true),
                       case when current_setting('transaction_timeout', true) is not null
                            then set_config('transaction_timeout', '0', true) end
                """))
        try limitWait(to: Self.lockTimeout, in: session)
    }

    private func createExpansions(in session: borrowing PostgresSession) throws {
        guard try !session.query(expansionsExist).one().decode(0, as: Bool.self) else { return }
        // Users that may read the one table may read the other: running programs must not lose sight of the schema
        // before an operator grants rights anew.
        try session.executeScript(
            """
            create table \(expansions) (
                version integer primary key check (version > 0),
                name text not null,
                checksum text not null,
                compatible_from integer not null check (compatible_from between 1 and version - 1),
                applied_at timestamptz not null default now()
            );
            comment on table \(expansions) is
                'applied migrations that a program of version compatible_from or later need not know to go on working; those '
                'that it must know are in schema_migrations';
            do $grants$
            declare
                reader oid;
            begin
                for reader in
                    select distinct g.grantee from pg_class c cross join lateral aclexplode(c.relacl) g
                     where c.oid = '\(table)'::regclass and g.privilege_type = 'SELECT' and g.grantee <> c.relowner
                loop
                    execute 'grant select on \(expansions) to '
                        || case reader when 0 then 'public' else quote_ident(pg_get_userbyid(reader)) end;
                end loop;
            end
            $grants$;
            """, name: "migrate.create_expansions")
    }

    /// The row for a migration, and in which table the earlier rows belong from now on.
    private func recording(_ migration: Migration) -> [PostgresQuery] {
        let version = Int32(clamping: migration.version)
        let from = Int32(clamping: migration.compatibleFrom)
        guard from < version else {
            return [
                PostgresQuery(
                    "migrate.record",
                    """
                    insert into \(unescaped: table) (version, name, checksum)
                    values (\(version), \(migration.name), encode(sha256(convert_to(\(migration.sql), 'UTF8')), 'hex'))
                    """), leaveBehind(before: from),
            ]
        }
        return [
            PostgresQuery(
                "migrate.record_expansion",
                """
                insert into \(unescaped: expansions) (version, name, checksum, compatible_from)
                values (\(version), \(migration.name), encode(sha256(convert_to(\(migration.sql), 'UTF8')), 'hex'), \(from))
                """), leaveBehind(before: from),
        ]
    }

    /// Programs that do not know this version no longer fit.
    private func leaveBehind(before version: Int32) -> PostgresQuery {
        PostgresQuery(
            "migrate.leave_behind",
            """
            with needed as (
                delete from \(unescaped: expansions) where version <= \(version)
                returning version, name, checksum, applied_at
            )
            insert into \(unescaped: table) (version, name, checksum, applied_at)
            select version, name, checksum, applied_at from needed
            """)
    }

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

    /// The applied versions, each with whether programs must know it and whether this program's text is equal: null
    /// where it has none under that number.
    private func comparison(withExpansions: Bool) -> PostgresQuery {
        let further = withExpansions ? "union all select version, checksum, false from \(expansions)" : ""
        return PostgresQuery(
            withExpansions ? "migrate.compare" : "migrate.compare_older",
            """
            select applied.version, applied.is_needed,
                   applied.checksum = encode(sha256(convert_to(known.sql, 'UTF8')), 'hex')
            from (select version, checksum, true from \(unescaped: table) \(unescaped: further))
                as applied (version, checksum, is_needed)
            left join unnest(\(migrations.map { Int32(clamping: $0.version) }), \(migrations.map(\.sql)))
                as known (version, sql) using (version)
            order by applied.version
            """)
    }

    private func judge(_ rows: PostgresRows) throws(PostgresError) -> (schema: SchemaState, applied: Set<Int>) {
        var applied: Set<Int> = []
        var changed: Int?
        var unknown: Int?
        var leavesBehind = false
        for row in rows {
            let (version, isNeeded, isSame) = try row.values(Int.self, Bool.self, Bool?.self)
            applied.insert(version)
            if isSame == nil {
                unknown = version
                leavesBehind = leavesBehind || isNeeded
            }
            if isSame == false { changed = changed ?? version }
        }
        let isComplete = migrations.allSatisfy { applied.contains($0.version) }
        let fits = migrations.allSatisfy { $0.version > oldestFitting || applied.contains($0.version) }
        let state: SchemaState =
            if let unknown, leavesBehind || !isComplete {
                .newer(found: unknown, needed: needed)
            } else if let changed {
                .changed(version: changed)
            } else if let unknown {
                .compatible(found: unknown, own: needed)
            } else if isComplete {
                .current(version: needed)
            } else if let found = applied.max() {
                fits ? .compatible(found: found, own: needed) : .older(found: found, needed: needed)
            } else {
                .missing(needed: needed)
            }
        return (state, applied)
    }
}
