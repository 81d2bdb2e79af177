import Postgres
import TestSupport
import Testing

@Suite("A deadline or a cancelled task")
struct DeadlineTests {
    @Test("stops a statement on the server, and the connection remains usable")
    func deadline() async throws {
        try await withConnection { connection in
            let backend = try await connection.query("select pg_backend_pid()")[0].decode(0, as: Int.self)
            let error = await failure {
                try await connection.query(
                    PostgresQuery("long", "select pg_sleep(600)::text"), deadline: .milliseconds(50))
            }
            #expect(error?.kind == .timeout)
            #expect(error?.operation == "long")
            #expect(error?.mayHaveCommitted == false)
            #expect(connection.isUsable)
            #expect(try await connection.query("select pg_backend_pid()")[0].decode(0, as: Int.self) == backend)
        }
    }

    @Test("comes from the configuration where a statement has none of its own")
    func defaultDeadline() async throws {
        try await withConnection {
            $0.queryTimeout = .milliseconds(50)
        } _: { connection in
            let alone = await failure { try await connection.query("select pg_sleep(600)::text") }
            #expect(alone?.kind == .timeout)
            let inTransaction = await failure {
                _ = try await connection.withTransaction { try $0.query("select pg_sleep(600)::text") }
            }
            #expect(inTransaction?.kind == .timeout)
            let patient = try await connection.query("select pg_sleep(0.06)::text", deadline: .seconds(30))
            #expect(patient.count == 1)
        }
    }

    @Test("of a transaction limits all its statements together, and rolls back")
    func transactionDeadline() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (id bigint)")
            let error = await failure {
                try await connection.withTransaction(TransactionOptions(deadline: .milliseconds(100))) { session in
                    while true { try session.query("insert into things select 1 from pg_sleep(0.02)") }
                }
            }
            #expect(error?.kind == .timeout)
            #expect(try await connection.query("select id from things").isEmpty)
        }
    }

    @Test("that is the task's stops a statement under way, and the connection remains usable")
    func cancellation() async throws {
        try await withTestDatabase { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let observer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await connection.query("create table things (id bigint)")
            let backend = try await connection.query("select pg_backend_pid()")[0].decode(0, as: Int.self)
            let alone = Task { try await connection.query("select 'alone', pg_sleep(600)::text") }
            try await untilRunning("'alone'", observer: observer)
            alone.cancel()
            let error = await failure { _ = try await alone.value }
            #expect(error?.kind == .cancelled)

            let transaction = Task {
                try await connection.withTransaction { session in
                    try session.query("insert into things values (1)")
                    try session.query("select 'within', pg_sleep(600)::text")
                }
            }
            try await untilRunning("'within'", observer: observer)
            transaction.cancel()
            let within = await failure { _ = try await transaction.value }
            #expect(within?.kind == .cancelled)
            #expect(try await connection.query("select id from things").isEmpty)
            #expect(try await connection.query("select pg_backend_pid()")[0].decode(0, as: Int.self) == backend)
        }
    }

    @Test("that is the task's reaches a caller that still waits in line, without touching who is ahead")
    func cancellationInLine() async throws {
        try await withTestDatabase { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let observer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await observer.query("select pg_advisory_lock(1)::text")
            let ahead = Task { try await connection.query("select 'ahead', pg_advisory_lock(1)::text").count }
            try await untilRunning("'ahead'", observer: observer)
            let waiting = Task { try await connection.query("select 1") }
            waiting.cancel()
            try await observer.query("select pg_advisory_unlock(1)")
            #expect(try await ahead.value == 1)
            let error = await failure { _ = try await waiting.value }
            #expect(error?.kind == .cancelled)
        }
    }

    @Test("over and over, each time right where a statement ends, never hits the next one")
    func lateCancels() async throws {
        try await withConnection { connection in
            for round in 0..<200 {
                let slow = await failure {
                    try await connection.query(
                        "select pg_sleep(\(Double(round % 20) / 5000))::text", deadline: .milliseconds(2))
                }
                #expect(slow == nil || slow?.kind == .timeout)
                let next = try await connection.query("select \(round)")
                #expect(try next[0].decode(0, as: Int.self) == round)
            }
        }
    }

    @Test("on a server that has fallen silent closes the connection after the grace period")
    func silentServer() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            var configuration = try proxy.configuration()
            configuration.cancelGracePeriod = .milliseconds(50)
            let connection = try await PostgresConnection.connect(to: configuration, logger: quiet)
            proxy.silence()
            let error = await failure { try await connection.query("select 1", deadline: .milliseconds(50)) }
            #expect(error?.kind == .timeout)
            #expect(error?.mayHaveCommitted == true)
            #expect(!connection.isUsable)
            let after = await failure { try await connection.query("select 1") }
            #expect(after?.kind == .connection)
        }
    }

    @Test("is not needed where the server hangs up amid a long statement: an error, and no SIGPIPE ends the process")
    func hungUp() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            let connection = try await PostgresConnection.connect(to: try proxy.configuration(), logger: quiet)
            let value = [UInt8](repeating: 1, count: 16_000_000)
            #expect(try await connection.query("select length(\(value))")[0].decode(0, as: Int.self) == value.count)
            async let hangUp: Void = proxy.stop()
            var error: PostgresError?
            while error == nil { error = await failure { try await connection.query("select length(\(value))") } }
            await hangUp
            #expect(error?.kind == .connection)
            #expect(!connection.isUsable)
        }
    }

    @Test("limits connecting to a server that accepts and says nothing")
    func silentConnect() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            proxy.silence()
            var configuration = try proxy.configuration()
            configuration.connectTimeout = .milliseconds(50)
            let error = await failure { _ = try await PostgresConnection.connect(to: configuration, logger: quiet) }
            #expect(error?.kind == .connection)
            #expect(error?.message.contains("no answer") == true)
        }
    }
}
