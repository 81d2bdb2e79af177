import EvidenceStore
import Foundation
import Postgres
import Schema
import TestSupport
import Testing

@Suite("Storing, where PostgreSQL replicates synchronously", .serialized)
struct DurableStoreTests {
    /// A private server with a migrated database, whose standby does not exist.
    private func withoutStandby(
        _ commits: String = "on", _ body: (PrivateServer, PostgresPool) async throws -> Void
    ) async throws {
        try await PrivateServer.with { server in
            let connection = try await server.connect()
            _ = try await Migrator(migrations: Schema.migrations).migrate(on: connection)
            try await connection.query("select storehook.ensure_outbox_partitions()")
            // The database's own defaults must not matter: neither hidden warnings nor commits that wait for no standby.
            try await connection.query("alter database postgres set client_min_messages = error")
            try await connection.query("alter database postgres set synchronous_commit = \(unescaped: commits)")
            await connection.close()
            try await server.set("synchronous_standby_names", "standby")
            var configuration = try PostgresConfiguration(url: server.url)
            configuration.queryTimeout = .milliseconds(300)
            let pool = PostgresPool(configuration: configuration, size: 3, logger: quiet)
            try await body(server, pool)
            await pool.close()
        }
    }

    private func failure(_ body: () async throws -> Void) async -> PostgresError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    @Test(
        "is not taken for done while the standby is away, and is once it is there, whatever synchronous_commit is",
        arguments: sampled(["on", "off"]))
    func standbyAway(commits: String) async throws {
        try await withoutStandby(commits) { server, pool in
            let outbox = Outbox(pool)
            // It begins to wait a moment after the setting.
            try await eventually("storing waits for the standby") {
                await failure { try await outbox.store([[1]]) }?.kind == .unconfirmed
            }
            #expect(await failure { try await outbox.store([[2]]) }?.kind == .unconfirmed)
            try await server.withStandby { standby in
                try await eventually("storing succeeds") { await failure { try await outbox.store([[3]]) } == nil }
                // Not one byte of what was acknowledged is lost with the primary.
                await server.crash()
                try await standby.promote()
                let kept = try await standby.run("select encode(body, 'hex') from storehook.outbox order by id")
                #expect(kept.contains("03"))
            }
        }
    }

    @Test("and what staff did to letters is not told as done either")
    func actsOfStaff() async throws {
        try await withoutStandby("local") { server, pool in
            let outbox = Outbox(pool)
            // Not waiting for anybody, this session can prepare what is to be done.
            let preparing = try await server.connect()
            try await preparing.query("set synchronous_commit = local")
            try await preparing.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select n, now(), 'unverified', 'malformed', 'x', 1 from generate_series(1, 100) n
                """)
            var id: Int64 = 0
            try await eventually("discarding waits for the standby") {
                id += 1
                return await failure { _ = try await outbox.discard([id], by: "me", why: "a test") }?.kind
                    == .unconfirmed
            }
            let replayed = await failure {
                _ = try await outbox.replay(DeadLetterFilter(ids: [100]), perSecond: nil, by: "me", why: nil)
            }
            #expect(replayed?.kind == .unconfirmed)
            await preparing.close()
        }
    }
}
