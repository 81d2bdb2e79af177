import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A pool that requires writes", .serialized)
struct WritableServerTests {
    private func pool(_ url: String, requiringWrites: Bool = true) throws -> PostgresPool {
        var configuration = try PostgresConfiguration(url: url)
        configuration.requiresWrites = requiringWrites
        return PostgresPool(configuration: configuration, size: 2, logger: quiet)
    }

    private func insert(_ pool: PostgresPool, _ id: Int64) async -> PostgresError? {
        await failure { _ = try await pool.query("insert into things values (\(id))") }
    }

    private func hosts(_ servers: PrivateServer...) -> String {
        "postgresql://storehook@\(servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))/postgres"
    }

    @Test("finds the primary among several hosts, and the one that was promoted after it")
    func promotion() async throws {
        try await PrivateServer.with { primary in
            try await primary.run("create table things (id bigint)")
            try await primary.withStandby { standby in
                let url = hosts(standby, primary)
                let (writers, readers) = (try pool(url), try pool(url, requiringWrites: false))
                #expect(await insert(writers, 1) == nil)
                // Readers prefer it, too, and make do with what there is.
                let recovering = PostgresQuery("select pg_is_in_recovery()")
                #expect(try await readers.query(recovering).one().decode(0, as: Bool.self) == false)
                try await eventually("the standby has it") {
                    try await standby.run("select id::text from things") == ["1"]
                }
                let before = writers.generation
                await primary.crash()
                let refused = await insert(writers, 2)
                #expect(refused?.sqlState == .readOnlyTransaction || refused?.kind == .connection)
                try await eventually("readers are served by the standby") {
                    (try? await readers.query(recovering).one().decode(0, as: Bool.self)) == true
                }
                try await standby.promote()
                try await eventually("writes go to the server that was promoted") { await insert(writers, 3) == nil }
                #expect(try await standby.run("select id::text from things order by id").last == "3")
                #expect(writers.generation > before)
                await writers.close()
                await readers.close()
            }
        }
    }

    @Test("drops connections to a server that takes no writes any more, says why, and goes on when it does again")
    func readOnly() async throws {
        try await PrivateServer.with { server in
            try await server.run("create table things (id bigint)")
            let pool = try pool(server.url)
            #expect(await insert(pool, 1) == nil)
            try await server.set("default_transaction_read_only", "on")
            try await eventually("writes are refused") { await insert(pool, 2) != nil }
            for _ in 0..<3 {
                let refused = await insert(pool, 3)
                #expect(refused?.sqlState == .readOnlyTransaction && refused?.isTransient == true)
            }
            // A single host that only reads will do for who only reads.
            let reader = try self.pool(server.url, requiringWrites: false)
            #expect(try await reader.query("select id from things").count >= 1)
            await reader.close()
            try await server.set("default_transaction_read_only", "off")
            try await eventually("writes are taken again") { await insert(pool, 4) == nil }
            await pool.close()
        }
    }

    @Test("leaves a connection open whose own transaction only reads")
    func byChoice() async throws {
        try await withConnection { connection in
            let refused = await failure {
                _ = try await connection.withTransaction(TransactionOptions(isReadOnly: true)) {
                    try $0.query("create table things (id bigint)")
                }
            }
            #expect(refused?.sqlState == .readOnlyTransaction)
            #expect(connection.isUsable)
        }
    }
}
