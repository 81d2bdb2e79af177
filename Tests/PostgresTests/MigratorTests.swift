import Postgres
import TestSupport
import Testing

@Suite("A migrator")
struct MigratorTests {
    static let migrations = [
        Migration(
            version: 1, name: "first",
            sql: "create table storehook.runs (version int); insert into storehook.runs values (1)"),
        Migration(version: 2, name: "second", sql: "insert into storehook.runs values (2)"),
        Migration(version: 3, name: "third", sql: "insert into storehook.runs values (3)"),
    ]

    @Test("applies what is pending, once, in order, and then finds nothing to do")
    func applies() async throws {
        try await withConnection { connection in
            let early = try Migrator(migrations: Array(Self.migrations.prefix(1)))
            #expect(try await early.check(on: connection) == .missing(needed: 1))
            #expect(try await early.migrate(on: connection).map(\.version) == [1])
            #expect(try await early.check(on: connection) == .current(version: 1))

            let later = try Migrator(migrations: Self.migrations.reversed())
            #expect(try await later.check(on: connection) == .older(found: 1, needed: 3))
            #expect(try await later.migrate(on: connection).map(\.version) == [2, 3])
            #expect(try await later.check(on: connection) == .current(version: 3))
            #expect(try await later.migrate(on: connection).isEmpty)

            let runs = try await connection.query("select version from storehook.runs")
            #expect(try runs.map { try $0.decode(0, as: Int.self) } == [1, 2, 3])
        }
    }

    @Test("twenty at once apply each migration exactly once")
    func twenty() async throws {
        try await withTestDatabase { database in
            let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let connection = try await PostgresConnection.connect(
                            to: database.configuration, logger: quiet)
                        return try await Migrator(migrations: Self.migrations).migrate(on: connection)
                    }
                }
                return try await group.reduce(into: [Int]()) { $0 += $1.map(\.version) }
            }
            #expect(applied.sorted() == [1, 2, 3])
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let runs = try await connection.query("select version from storehook.runs")
            #expect(try runs.map { try $0.decode(0, as: Int.self) } == [1, 2, 3])
        }
    }

    @Test("whose last migration fails leaves nothing of that one, and what came before it stands")
    func allOrNothing() async throws {
        try await withConnection { connection in
            let broken =
                Self.migrations + [
                    Migration(version: 4, name: "broken", sql: "create table storehook.half (); select * from nowhere")
                ]
            let error = await failure { _ = try await Migrator(migrations: broken).migrate(on: connection) }
            #expect(error?.sqlState == .undefinedTable)
            #expect(error?.operation == "migration 4 (broken)")
            let half = try await connection.query("select to_regclass('storehook.half') is null").one()
            #expect(try half.decode(0, as: Bool.self))
            #expect(try await Migrator(migrations: Self.migrations).check(on: connection) == .current(version: 3))
        }
    }

    @Test("sets for its transactions what scripts rely on: how literals are read, and no limit but its own deadline")
    func settings() async throws {
        try await withTestDatabase { database in
            let owner = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let version: Int64 = try await owner.query("select current_setting('server_version_num')::bigint").one()
                .decode(0)
            for setting in ["standard_conforming_strings = off", "statement_timeout = '1s'"]
                + (version >= 170_000 ? ["transaction_timeout = '1s'"] : [])
            {
                try await owner.query("alter database \(unescaped: database.name) set \(unescaped: setting)")
            }
            await owner.close()
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let migrations =
                Self.migrations + [
                    Migration(
                        version: 4, name: "slow",
                        sql: #"select pg_sleep(1.5); create table storehook.bytes as select '\x41'::bytea as b"#)
                ]
            _ = try await Migrator(migrations: migrations).migrate(on: connection)
            let bytes = try await connection.query("select octet_length(b)::bigint from storehook.bytes").one()
            #expect(try bytes.decode(0, as: Int64.self) == 1)
            let left = try await connection.query(
                "select current_setting('standard_conforming_strings') || current_setting('statement_timeout')")
            #expect(try left.one().decode(0, as: String.self) == "off1s")
            await connection.close()
        }
    }

    @Test("holds no lock of a migration that is done while another one runs")
    func locks() async throws {
        try await withTestDatabase { database in
            let own = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let other = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            _ = try await Migrator(migrations: Self.migrations).migrate(on: other)
            let slow =
                Self.migrations + [
                    Migration(version: 4, name: "strong", sql: "alter table storehook.runs add column more int"),
                    Migration(version: 5, name: "long", sql: "select pg_sleep(3)"),
                ]
            async let applied = Migrator(migrations: slow).migrate(on: own)
            try await eventually("the long one runs") {
                try await !other.query(
                    """
                    select 1 from pg_stat_activity
                     where wait_event = 'PgSleep' and datname = current_database()
                    """
                ).isEmpty
            }
            try await other.query("set lock_timeout = '100ms'")
            try await other.query("insert into storehook.runs values (4)")
            #expect(try await applied.map(\.version) == [4, 5])
        }
    }

    @Test("older than the schema refuses, to migrate and to vouch for it")
    func newerSchema() async throws {
        try await withConnection { connection in
            _ = try await Migrator(migrations: Self.migrations).migrate(on: connection)
            let old = try Migrator(migrations: Array(Self.migrations.prefix(2)))
            let state = SchemaState.newer(found: 3, needed: 2)
            #expect(try await old.check(on: connection) == state)
            let error = await #expect(throws: SchemaMismatch.self) { try await old.migrate(on: connection) }
            #expect(error?.state == state)
        }
    }

    @Test("finds that an applied migration had other text")
    func changed() async throws {
        try await withConnection { connection in
            _ = try await Migrator(migrations: Self.migrations).migrate(on: connection)
            var edited = Self.migrations
            edited[1] = Migration(version: 2, name: "second", sql: edited[1].sql + " ")
            let migrator = try Migrator(migrations: edited)
            #expect(try await migrator.check(on: connection) == .changed(version: 2))
            let error = await #expect(throws: SchemaMismatch.self) { try await migrator.migrate(on: connection) }
            #expect(error?.state == .changed(version: 2))
        }
    }

    @Test("checks with no more than the right to read its table, and applies nothing without more")
    func rights() async throws {
        try await withConnection { connection in
            let migrator = try Migrator(migrations: Self.migrations)
            _ = try await migrator.migrate(on: connection)
            let role = "reader_\(UInt32.random(in: .min ... .max))"
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    create role \(role);
                    grant usage on schema storehook to \(role);
                    grant select on storehook.schema_migrations, storehook.schema_expansions to \(role);
                    """)
            }
            // A role for one session only, which is this test's own: nothing else runs on this connection.
            try await connection.query("set session authorization \(unescaped: role)")
            #expect(try await migrator.check(on: connection) == .current(version: 3))
            try await connection.query("reset session authorization")
            try await connection.query("drop owned by \(unescaped: role)")
            try await connection.query("drop role \(unescaped: role)")
        }
    }

    @Test("is refused with versions used twice, none at all, or a schema's name that is not plain")
    func refusals() {
        let one = Migration(version: 1, name: "a", sql: "")
        #expect(throws: PostgresError.self) { try Migrator(migrations: [one, one]) }
        #expect(throws: PostgresError.self) { try Migrator(migrations: []) }
        #expect(throws: PostgresError.self) { try Migrator(migrations: [Migration(version: 0, name: "", sql: "")]) }
        #expect(throws: PostgresError.self) { try Migrator(schema: "a\"; drop", migrations: [one]) }
    }
}
