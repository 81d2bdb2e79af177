import Foundation
import Postgres
import Schema
import TestSupport
import Testing

@Suite("The embedded migrations")
struct MigrationListTests {
    @Test("are the files of sql/migrations, in their order, word for word")
    func files() throws {
        let directory = packageRoot.appending(path: "sql/migrations")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".sql") }.sorted()
        let onDisk = try names.map { name in
            let stem = name.dropLast(4)
            return Migration(
                version: try #require(Int(stem.prefix(4)), "\(name) begins with its number in four digits"),
                name: String(stem.dropFirst(5)),
                sql: try String(contentsOf: directory.appending(path: name), encoding: .utf8))
        }
        #expect(Schema.migrations.map(\.version) == onDisk.map(\.version))
        #expect(Schema.migrations.map(\.name) == onDisk.map(\.name))
        for (embedded, file) in zip(Schema.migrations, onDisk) {
            #expect(embedded.sql == file.sql, "migration \(file.version)")
        }
    }

    @Test("are numbered from 1 without a gap")
    func numbers() {
        #expect(Schema.migrations.map(\.version) == Array(1...Schema.migrations.count))
    }

    /// See "Migrations" in Sources/ARCHITECTURE.md. The first ten are as old as the first release.
    @Test(
        "say, from the eleventh on, which older programs go on working beside them",
        arguments: Schema.migrations.dropFirst(10))
    func range(migration: Migration) {
        #expect(
            migration.sql.hasPrefix("-- compatible-from: ") || migration.sql.contains("\n-- compatible-from: "),
            "write -- compatible-from: N among the comments at its top; N is its own number if nobody older can go on")
        #expect((1...migration.version).contains(migration.compatibleFrom))
    }

    @Test("applied twice change nothing the second time")
    func idempotent() async throws {
        try await withSchema { connection, _ in
            let migrator = try Migrator(migrations: Schema.migrations)
            #expect(try await migrator.migrate(on: connection).isEmpty)
            #expect(try await migrator.check(on: connection) == .current(version: Schema.migrations.count))
        }
    }
}
