import Foundation
import Postgres
import TestSupport
import Testing

/// `sql/schema.sql` shows what all migrations together make, so that a change to the schema can be read in one place.
///
/// It is `pg_dump`'s text, which differs from one major version of PostgreSQL to the next: the comparison is made with the
/// version below, server and program alike, and skipped with any other. To write it anew after a migration was added:
/// `STOREHOOK_UPDATE_SCHEMA=1 swift test --filter GoldenSchemaTests`.
@Suite("The golden schema")
struct GoldenSchemaTests {
    static let version = 15
    static let file = packageRoot.appending(path: "sql/schema.sql")

    @Test("is what the migrations make")
    func golden() async throws {
        try await withSchema { connection, database in
            let server = try await connection.value(
                "select current_setting('server_version_num')::bigint / 10000", as: Int.self)
            guard server == Self.version, let program = await Self.dumpProgram() else {
                print("skipped: sql/schema.sql is compared with PostgreSQL \(Self.version) and its pg_dump only")
                return
            }
            let dump = try await Self.dump(database, program)
            if ProcessInfo.processInfo.environment["STOREHOOK_UPDATE_SCHEMA"] == "1" {
                try dump.write(to: Self.file, atomically: true, encoding: .utf8)
                return
            }
            let golden = try String(contentsOf: Self.file, encoding: .utf8)
            let changed = dump.split(separator: "\n").difference(from: golden.split(separator: "\n"))
            let shown = changed.prefix(20).map { change in
                switch change {
                case .insert(_, let line, _): "+ \(line)"
                case .remove(_, let line, _): "- \(line)"
                }
            }
            #expect(
                dump == golden,
                "the schema changed; if that was meant, STOREHOOK_UPDATE_SCHEMA=1:\n\(shown.joined(separator: "\n"))")
        }
    }

    /// A `pg_dump` of the right major version, where Debian puts it or on the path.
    private static func dumpProgram() async -> String? {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/pg_dump" }
        for candidate in ["/usr/lib/postgresql/\(version)/bin/pg_dump"] + path
        where FileManager.default.isExecutableFile(atPath: candidate) {
            guard let program = try? ChildProgram(candidate, ["--version"], environment: [:]) else { continue }
            await program.end()
            let fits = program.output.contains(" \(version).")
            await program.discard()
            if fits { return candidate }
        }
        return nil
    }

    /// The dump without what differs from run to run: comments, settings, psql's commands, grants to roles, and the partitions of days.
    private static func dump(_ database: TestDatabase, _ program: String) async throws -> String {
        let text = try await ChildProgram.run(
            program,
            [
                "--dbname=\(database.url)", "--schema-only", "--no-owner", "--schema=storehook",
                "--exclude-table=storehook.outbox_2*",
            ])
        var kept: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            // Comments in the bodies of functions are indented.
            if ["--", "SET ", "SELECT pg_catalog.set_config", "\\"].contains(where: { line.hasPrefix($0) }) {
                continue
            }
            // Migrations grant to the roles that the server has: other tests make these.
            if line.hasPrefix("GRANT "), line.hasSuffix(" TO storehook_console;") { continue }
            if line.isEmpty && kept.last?.isEmpty != false { continue }
            kept.append(line)
        }
        return
            "-- What the migrations make, as pg_dump shows it. Written by GoldenSchemaTests; never edited by hand.\n\n"
            + kept.joined(separator: "\n")
    }
}
