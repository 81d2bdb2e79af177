import Foundation
import TestSupport
import Testing

@testable import Postgres

/// What PostgreSQL calls done without its synchronous standby (its manual, 27.2.8.2) is not what may be acknowledged.
@Suite("What is to be durable", .serialized)
struct DurabilityTests {
    private static let insert = PostgresQuery(
        "insert into things select 1 from (select \(unescaped: PostgresQuery.durableSettings)) as shown")

    /// A server whose only standby is away.
    private func withoutStandby(
        _ body: (PrivateServer, PostgresConnection) async throws -> Void
    ) async throws {
        try await PrivateServer.with { server in
            try await server.run("create table things (id bigint)")
            try await server.run("alter database postgres set client_min_messages = error")
            try await server.set("synchronous_standby_names", "standby")
            let connection = try await server.connect()
            // Waiting begins a moment after the setting, when the checkpointer has heard of it.
            try await eventually("commits wait for the standby") {
                await failure {
                    _ = try await connection.query(Self.insert, deadline: .milliseconds(200), durably: true)
                } != nil
            }
            try await body(server, connection)
            await connection.close()
        }
    }

    @Test("is unconfirmed where the wait for a standby is cut short, by whomever, though sessions hear no warnings")
    func unconfirmed() async throws {
        try await withoutStandby { server, connection in
            let late = await failure {
                _ = try await connection.query(Self.insert, deadline: .milliseconds(200), durably: true)
            }
            #expect(late?.kind == .unconfirmed)
            #expect(late?.mayHaveCommitted == true && late?.isTransient == true)
            #expect(connection.isUsable)

            let inTransaction = Task {
                _ = try await connection.withTransaction(TransactionOptions(isDurable: true, name: "act")) {
                    try $0.query("insert into things values (2)")
                }
            }
            let backend = try await server.connect()
            try await eventually("the commit was stopped by somebody") {
                try await !backend.query(
                    "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
                ).isEmpty
            }
            let stopped = await failure { _ = try await inTransaction.value }
            #expect(stopped?.kind == .unconfirmed && stopped?.operation == "act (commit)")
            // It would wait for the standby, too.
            try await backend.query("set synchronous_commit = local")
            try await backend.query("alter database postgres set synchronous_commit = local")
            var configuration = try PostgresConfiguration(url: server.url)
            configuration.queryTimeout = .milliseconds(200)
            let hasty = try await PostgresConnection.connect(to: configuration, logger: quiet)
            let unwaited = await failure {
                _ = try await hasty.withTransaction(TransactionOptions(idleTimeout: .seconds(60), isDurable: true)) {
                    try $0.query("insert into things values (4)")
                }
            }
            #expect(unwaited?.kind == .unconfirmed)
            // What the operator chose holds again after it.
            #expect(
                try await hasty.query("select current_setting('synchronous_commit')").one().decode(0, as: String.self)
                    == "local")
            await hasty.close()
            // It is there, on this server alone.
            #expect(try await backend.query("select id from things where id = 2").count == 1)
            await backend.close()
        }
    }

    @Test("is nothing that a warning of ids that run out is about, and any other warning may be")
    func warnings() {
        #expect(ServerWarning.mayBeOfCommit(severity: "WARNING", function: "SyncRepWaitForLSN"))
        #expect(ServerWarning.mayBeOfCommit(severity: "WARNING", function: nil))
        #expect(!ServerWarning.mayBeOfCommit(severity: "NOTICE", function: "SyncRepWaitForLSN"))
        for warner in ["GetNewTransactionId", "SetTransactionIdLimit", "GetNewMultiXactId", "SetMultiXactIdLimit"] {
            #expect(!ServerWarning.mayBeOfCommit(severity: "WARNING", function: warner))
        }
    }

    @Test("is done once the standby has it")
    func confirmed() async throws {
        try await withoutStandby { server, connection in
            try await server.withStandby { standby in
                try await eventually("the standby is synchronous") {
                    try await server.run("select sync_state from pg_stat_replication") == ["sync"]
                }
                try await connection.query(Self.insert, durably: true)
                try await connection.withTransaction(TransactionOptions(idleTimeout: .seconds(60), isDurable: true)) {
                    try $0.query("insert into things values (3)")
                }
                try await eventually("the standby shows it") {
                    try await standby.run("select id::text from things where id = 3") == ["3"]
                }
            }
        }
    }

    @Test("on an encrypted connection: a statement is stopped by closing it, and the server ends the statement")
    func encrypted() async throws {
        let certificate = try ServerCertificate()
        try await PrivateServer.with(
            ["ssl_cert_file = 'server.pem'", "ssl_key_file = 'server.key'"],
            files: ["server.pem": certificate.certificate, "server.key": certificate.key]
        ) { server in
            guard server.canEncrypt else {
                print("skipped: this PostgreSQL is built without TLS")
                return
            }
            try await server.set("ssl", "on")
            let observer = try await server.connect()
            let connection = try await PostgresConnection.connect(
                to: PostgresConfiguration(url: server.url + "?sslmode=require"), logger: quiet)
            let error = await failure {
                _ = try await connection.query("select 'stopped', pg_sleep(600)::text", deadline: .milliseconds(50))
            }
            #expect(error?.kind == .timeout && error?.mayHaveCommitted == true)
            #expect(!connection.isUsable)
            try await eventually("the server has ended the statement") {
                try await observer.query(
                    "select 1 from pg_stat_activity where position('''stopped''' in query) > 0 and pid <> pg_backend_pid()"
                ).isEmpty
            }
            await observer.close()
        }
    }
}
