import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Postgres

@Suite("A pool")
struct PoolTests {
    @Test("serves more callers than it has connections, and never opens more than its size")
    func size() async throws {
        try await withTestDatabase { database in
            let pool = PostgresPool(configuration: database.configuration, size: 3, logger: quiet)
            let backends = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<60 {
                    group.addTask { try await pool.query("select pg_backend_pid()")[0].decode(0, as: Int.self) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect((1...3).contains(backends.count))
            await pool.close()
        }
    }

    @Test("whose idle connections were all terminated serves the next callers as if nothing had happened")
    func terminated() async throws {
        try await withTestDatabase { database in
            let pool = PostgresPool(configuration: database.configuration, size: 3, logger: quiet)
            let killer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            for _ in 0..<10 {
                try await openAll(of: pool, count: 3)
                let terminated = try await killer.query(
                    """
                    select pg_terminate_backend(pid, 10000) from pg_stat_activity
                    where datname = current_database() and pid <> pg_backend_pid()
                    """)
                #expect(terminated.count == 3)
                #expect(try await pool.query("select 1").count == 1)
                #expect(try await pool.withTransaction { try $0.query("select 1").count } == 1)
            }
            await pool.close()
        }
    }

    @Test("takes the server's farewell for the end, even where the socket does not show it yet")
    func farewell() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 1, logger: quiet)
            let killer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let first = try await pool.query("select pg_backend_pid()")[0].decode(0, as: Int32.self)
            proxy.keepClients()
            try await killer.query("select pg_terminate_backend(\(first), 10000)")
            while proxy.hangUps == 0 { await Task.yield() }
            let second = try await pool.query("select pg_backend_pid()")[0].decode(0, as: Int32.self)
            #expect(second != first)
            await pool.close()
        }
    }

    @Test("whose server goes away fails fast, and once it is back serves again without anything restarted")
    func outage() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 2, logger: quiet)
            try await pool.query("select 1")
            proxy.stop()
            // Far more than could pass in one connectTimeout each: most are turned away during the backoff.
            for _ in 0..<200 {
                let error = await failure { try await pool.query("select 1") }
                #expect(error?.kind == .connection)
                #expect(error?.isTransient == true)
            }
            try proxy.start()
            while await failure({ try await pool.query("select 1") }) != nil {}
            #expect(try await pool.query("select 1").count == 1)
            await pool.close()
        }
    }

    @Test("that runs as a service finds the server again without being asked, and ends upon a graceful shutdown")
    func service() async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            proxy.stop()
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 2, logger: quiet)
            let group = ServiceGroup(services: [pool], logger: quiet)
            let running = Task { try await group.run() }
            let observer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try proxy.start()
            // No caller asks the pool for anything: the connection that appears is of its own making.
            while try await observer.query(
                """
                select 1 from pg_stat_activity
                where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
                """
            ).isEmpty {}
            #expect(try await pool.query("select 1").count == 1)
            await group.triggerGracefulShutdown()
            try await running.value
            let error = await failure { try await pool.query("select 1") }
            #expect(error?.message == "the pool is closed")
        }
    }

    @Test("that is busy turns a caller away after a while, or when its task is cancelled")
    func busy() async throws {
        try await withTestDatabase { database in
            var configuration = database.configuration
            configuration.acquireTimeout = .milliseconds(20)
            let pool = PostgresPool(configuration: configuration, size: 1, logger: quiet)
            // On a slow machine even opening may take longer than that, but not for ever.
            while await failure({ try await pool.query("select 1") }) != nil {}
            try await pool.withConnection { _ in
                let late = await failure { try await pool.query("select 1") }
                #expect(late?.kind == .timeout)
                let task = Task { try await pool.query("select 1") }
                task.cancel()
                let cancelled = await failure { _ = try await task.value }
                #expect(cancelled?.kind == .cancelled)
            }
            #expect(try await pool.query("select 1").count == 1)
            await pool.close()
        }
    }

    @Test("that closes lets those under way finish")
    func closing() async throws {
        try await withTestDatabase { database in
            let pool = PostgresPool(configuration: database.configuration, size: 1, logger: quiet)
            let observer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await observer.query("create table things (id bigint)")
            try await observer.query("select pg_advisory_lock(1)::text")
            let underWay = Task {
                try await pool.withTransaction { session in
                    try session.query("insert into things values (1)")
                    try session.query("select 'under way', pg_advisory_xact_lock(1)::text")
                }
            }
            try await untilRunning("'under way'", observer: observer)
            let closing = Task {
                await pool.close()
                // No transaction is under way after the close.
                return try await observer.query("select id from things").count
            }
            while await failure({ try await pool.query("select 1") })?.message != "the pool is closed" {}
            try await observer.query("select pg_advisory_unlock(1)")
            #expect(try await closing.value == 1)
            _ = try await underWay.value
            #expect(try await observer.query("select id from things").count == 1)
        }
    }

    /// Makes the pool open all its connections, by holding them at the same time.
    private func openAll(of pool: PostgresPool, count: Int) async throws {
        if count == 0 { return }
        try await pool.withConnection { _ in try await openAll(of: pool, count: count - 1) }
    }
}
