import Foundation
import Postgres
import Schema
import TestSupport
import Testing

/// On a server of their own: users are the whole server's.
@Suite("The users of deploy/logins.sql")
struct LoginTests {
    private func address(_ server: PrivateServer, _ user: String, _ database: String) -> String {
        "postgresql://\(user)@127.0.0.1:\(server.port)/\(database)"
    }

    private func migrate(_ server: PrivateServer, _ user: String, _ database: String) async throws {
        let connection = try await PostgresConnection.connect(
            to: PostgresConfiguration(url: address(server, user, database)), logger: quiet)
        do {
            _ = try await Migrator(migrations: Schema.migrations).migrate(on: connection)
            // Twice: they are made to be run again.
            let scripts = try sqlScript("sql/roles.sql") + sqlScript("deploy/logins.sql")
            for _ in 0..<2 { try await connection.withTransaction { try $0.executeScript(scripts) } }
            await connection.close()
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The doctor's answer to a check, as a user finds it.
    private func doctor(
        _ server: PrivateServer, _ user: String, _ database: String, role: String, _ check: String
    ) async throws -> String? {
        let program = try ChildProgram(
            Executable.path, ["doctor", "--role", role, "--format", "table"],
            environment: [
                "DATABASE_URL": address(server, user, database), "STOREHOOK_APPS": "org.example=1", "HOME": "/tmp",
                "PATH": "/usr/bin:/bin",
            ])
        await program.end()
        let line = program.output.split(separator: "\n").first { $0.contains(" \(check) ") }.map(String.init)
        await program.discard()
        return line
    }

    @Test(
        "are made by an owner with the right to create roles, and for a second owner's database on that server; the doctor prints the grant that needs a superuser"
    )
    func owners() async throws {
        try await PrivateServer.with { server in
            for owner in ["first", "second"] {
                try await server.run("create role \(unescaped: owner) login createrole")
                try await server.run("create database \(unescaped: owner) owner \(unescaped: owner)")
                try await migrate(server, owner, owner)
            }
            let version = try await server.run("select current_setting('server_version_num')")
            let mayGrant = (version[0].flatMap { Int($0) } ?? 0) < 160_000
            for database in ["first", "second"] {
                for role in ["receiver", "worker", "ops", "api", "console"] {
                    let rights = try await doctor(server, "storehook-\(role)", database, role: role, "rights")
                    #expect(rights?.hasPrefix("ok") == true, "\(role): \(rights ?? "no line")")
                }
                let line = #"as a superuser: grant pg_read_all_stats to "storehook-ops""#
                let horizon = try await doctor(server, "storehook-ops", database, role: "ops", "vacuum horizon")
                #expect(horizon?.contains(line) == !mayGrant, "\(horizon ?? "no line")")
                // Other users need not see sessions.
                let worker = try await doctor(server, "storehook-worker", database, role: "worker", "vacuum horizon")
                #expect(worker?.hasPrefix("ok") == true, "\(worker ?? "no line")")
            }
            try await server.run(#"grant pg_read_all_stats to "storehook-ops""#)
            let told = try await doctor(server, "storehook-ops", "first", role: "ops", "vacuum horizon")
            #expect(told?.hasPrefix("ok") == true, "\(told ?? "no line")")
        }
    }
}
