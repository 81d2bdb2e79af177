import Postgres
import Synchronization
import TestSupport
import Testing

@Suite("Schemas that programs of other versions fit")
struct SchemaRangeTests {
    /// The third expands what the second left, the fourth what the third left, and the fifth takes something away.
    private static let migrations = [
        Migration(version: 1, name: "first", sql: "create table storehook.runs (version int)"),
        Migration(version: 2, name: "second", sql: "-- As old as any.\ninsert into storehook.runs values (2)"),
        Migration(
            version: 3, name: "third",
            sql: "-- Nobody looks there yet.\n-- compatible-from: 2\nalter table storehook.runs add column note text"),
        Migration(
            version: 4, name: "fourth", sql: "-- compatible-from: 3\nalter table storehook.runs add column more text"),
        Migration(version: 5, name: "fifth", sql: "alter table storehook.runs drop column note"),
    ]

    private static func migrator(_ last: Int, fitting oldest: Int? = nil) throws -> Migrator {
        try Migrator(migrations: Array(migrations.prefix(last)), oldestFitting: oldest)
    }

    private func rows(_ table: String, _ connection: PostgresConnection) async throws -> [Int] {
        try await connection.query("select version from storehook.\(unescaped: table) order by 1")
            .map { try $0.decode(0, as: Int.self) }
    }

    @Test("are told by the migrations themselves, and a program is refused once one leaves it behind")
    func ranges() async throws {
        #expect(Self.migrations.map(\.compatibleFrom) == [1, 2, 2, 3, 5])
        try await withConnection { connection in
            func states() async throws -> [SchemaState] {
                var states: [SchemaState] = []
                for last in 2...5 { states.append(try await Self.migrator(last).check(on: connection)) }
                return states
            }
            _ = try await Self.migrator(3).migrate(on: connection)
            #expect(
                try await states() == [
                    .compatible(found: 3, own: 2), .current(version: 3), .older(found: 3, needed: 4),
                    .older(found: 3, needed: 5),
                ])
            // The older program has nothing to migrate, and a table that it must know holds nothing new.
            #expect(try await Self.migrator(2).migrate(on: connection).isEmpty)
            #expect(try await rows("schema_migrations", connection) == [1, 2])
            _ = try await Self.migrator(4).migrate(on: connection)
            #expect(
                try await states() == [
                    .newer(found: 4, needed: 2), .compatible(found: 4, own: 3), .current(version: 4),
                    .older(found: 4, needed: 5),
                ])
            // One that knows nothing of ranges looks at this table alone.
            #expect(try await rows("schema_migrations", connection) == [1, 2, 3])
            await #expect(throws: SchemaMismatch.self) { try await Self.migrator(2).migrate(on: connection) }
            _ = try await Self.migrator(5).migrate(on: connection)
            #expect(
                try await states().prefix(3) == [
                    .newer(found: 5, needed: 2), .newer(found: 5, needed: 3), .newer(found: 5, needed: 4),
                ])
            #expect(try await rows("schema_migrations", connection) == [1, 2, 3, 4, 5])
            #expect(try await rows("schema_expansions", connection).isEmpty)
        }
    }

    @Test("are the same whether they were made at once or step by step, and keep what was applied when")
    func steps() async throws {
        for steps in [[4], [2, 4], [1, 2, 3, 4]] {
            try await withConnection { connection in
                for last in steps { _ = try await Self.migrator(last).migrate(on: connection) }
                #expect(try await rows("schema_migrations", connection) == [1, 2, 3])
                #expect(try await rows("schema_expansions", connection) == [4])
                #expect(try await Self.migrator(4).check(on: connection) == .current(version: 4))
            }
        }
    }

    @Test("may be older than a program that says so, and an expansion that was edited is found")
    func olderAndChanged() async throws {
        try await withConnection { connection in
            _ = try await Self.migrator(3).migrate(on: connection)
            let state = try await Self.migrator(5, fitting: 3).check(on: connection)
            #expect(state == .compatible(found: 3, own: 5) && state.isBehind)
            #expect(try await Self.migrator(5, fitting: 4).check(on: connection) == .older(found: 3, needed: 5))
            var edited = Array(Self.migrations.prefix(3))
            edited[2] = Migration(version: 3, name: "third", sql: edited[2].sql + " ")
            #expect(try await Migrator(migrations: edited).check(on: connection) == .changed(version: 3))
        }
    }

    @Test("are seen by whoever saw them before, though nobody has given rights anew")
    func rights() async throws {
        try await withConnection { connection in
            let role = "reader_\(UInt32.random(in: .min ... .max))"
            // As a program has left it that knew nothing of expansions.
            _ = try await Self.migrator(2).migrate(on: connection)
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    drop table storehook.schema_expansions;
                    create role \(role);
                    grant usage on schema storehook to \(role);
                    grant select on storehook.schema_migrations to \(role);
                    """)
            }
            #expect(try await Self.migrator(2).check(on: connection) == .current(version: 2))
            _ = try await Self.migrator(3).migrate(on: connection)
            try await connection.query("set session authorization \(unescaped: role)")
            #expect(try await Self.migrator(3).check(on: connection) == .current(version: 3))
            try await connection.query("reset session authorization")
            try await connection.query("drop owned by \(unescaped: role)")
            try await connection.query("drop role \(unescaped: role)")
        }
    }

    @Test("are not made of what says something else than a version before its own", arguments: ["0", "4", "soon", ""])
    func misspelt(version: String) {
        let migrations =
            Self.migrations.prefix(2) + [
                Migration(version: 3, name: "odd", sql: "-- compatible-from: \(version)\nselect 1")
            ]
        #expect(throws: PostgresError.self) { try Migrator(migrations: Array(migrations)) }
    }

    /// A dump holds the weakest lock there is on every table for as long as it takes, and lets everybody read and write. What
    /// waits for the strongest lock stops everybody who comes after it.
    @Test("are made while a dump runs: the migrator leaves the queue again and again, and goes on when it is done")
    func dump() async throws {
        try await withTestDatabase { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            _ = try await Self.migrator(2).migrate(on: connection)
            let dump = try await HeldTransaction(in: database, "select count(*) from storehook.runs")
            let gaveWay = Mutex(0)
            let migration = Task {
                let own = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
                let applied = try await Self.migrator(3).migrate(on: own) { tries in gaveWay.withLock { $0 = tries } }
                await own.close()
                return applied
            }
            do {
                try await eventually("the migrator has made room twice") { gaveWay.withLock { $0 } >= 2 }
                // With the dump under way, new transactions read and write.
                try await connection.query("insert into storehook.runs values (7)", deadline: .seconds(60))
                #expect(try await Self.migrator(3).check(on: connection) == .older(found: 2, needed: 3))
                try await dump.release()
            } catch {
                migration.cancel()
                throw error
            }
            #expect(try await migration.value.map(\.version) == [3])
            await connection.close()
        }
    }
}
