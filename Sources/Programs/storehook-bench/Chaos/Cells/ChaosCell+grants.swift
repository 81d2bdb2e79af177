import Foundation
import Postgres

extension ChaosCell {
    /// An operator revokes a right of the workers, then one of the receiver, and grants each again. What cannot be
    /// stored or applied meanwhile waits; no notification becomes a dead letter.
    static let grantsRevoked = ChaosCell(name: "grants-revoked") { run in
        guard run.server.isOurs, let roles = run.roles else {
            // Roles are the whole server's.
            throw ChaosObstacle(why: "needs a server of its own and sql/roles.sql: deploy/chaos")
        }
        return try await BenchDatabase.with { database in
            try await database.makeLogins(roles)
            return try await ChaosSite.with(
                database, run.programs, receiver: .init(url: database.url.with("user", "chaos_receiver")),
                worker: { _ in .init(url: database.url.with("user", "chaos_worker")) }
            ) { site in
                try await run.account(site, seconds: 18) { _ in
                    try await database.without("insert on storehook.notifications", of: "storehook_worker")
                    try await database.without("insert on storehook.outbox_queue", of: "storehook_receiver")
                }
            }
        }
    }
}

extension BenchDatabase {
    /// Makes the roles, and a login in each of those that programs have.
    fileprivate func makeLogins(_ roles: URL) async throws {
        // The transaction here is the file's own, and no psql reads what is said to it.
        let script = try String(contentsOf: roles, encoding: .utf8)
            .replacing("\nbegin;\n", with: "\n").replacing("\ncommit;\n", with: "\n")
            .replacing(/(?m)^\\.*$/, with: "")
        try await pool.withTransaction { try $0.executeScript(script) }
        for program in ["receiver", "worker"]
        where try await pool.query("select 1 from pg_roles where rolname = \("chaos_\(program)")").isEmpty {
            try await pool.query(
                "create role \(unescaped: "chaos_\(program)") login in role \(unescaped: "storehook_\(program)")")
        }
    }

    /// Takes a right from a role for five seconds.
    fileprivate func without(_ right: String, of role: String) async throws {
        try await pool.query("revoke \(unescaped: right) from \(unescaped: role)")
        try await Task.sleep(for: .seconds(5))
        try await pool.query("grant \(unescaped: right) to \(unescaped: role)")
    }
}
