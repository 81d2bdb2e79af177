import ServiceLifecycle
import TestSupport
import Testing

@testable import Postgres

@Suite("A listener")
struct ListenerTests {
    @Test("wakes when it begins, for a notification, and again after its connection was terminated")
    func wakes() async throws {
        try await withTestDatabase { database in
            let other = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let listener = try PostgresListener(
                configuration: database.configuration, channel: "work", logger: quiet)
            let group = ServiceGroup(services: [listener], logger: quiet)
            let running = Task { try await group.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()

            #expect(await wakeUps.next() == .listening)
            try await other.query("notify work")
            #expect(await wakeUps.next() == .notified)
            try await other.query(
                """
                select pg_terminate_backend(pid, 10000) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()
                """)
            #expect(await wakeUps.next() == .listening)
            try await other.query("select pg_notify(\("work"), \("payload"))::text")
            #expect(await wakeUps.next() == .notified)

            await group.triggerGracefulShutdown()
            try await running.value
            #expect(await wakeUps.next() == nil)
        }
    }

    @Test("keeps one wake-up, however many notifications come while nobody looks")
    func coalescing() async throws {
        try await withTestDatabase { database in
            let other = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let listener = try PostgresListener(
                configuration: database.configuration, channel: "work", logger: quiet)
            let running = Task { try await listener.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()
            #expect(await wakeUps.next() == .listening)
            for _ in 0..<100 { try await other.query("notify work") }
            running.cancel()
            try await running.value
            // The listener has ended, so whatever it kept is here: at most one, however many were sent.
            var kept = 0
            while await wakeUps.next() != nil { kept += 1 }
            #expect(kept <= 1)
        }
    }

    @Test(
        "keeps its session where the server ends those that are idle, and says once, and then how often, that it was lost"
    )
    func losses() async throws {
        try await withTestDatabase { database in
            let other = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await other.query("alter database \(unescaped: database.name) set idle_session_timeout = '200ms'")
            let log = RecordedLog()
            let listener = try PostgresListener(
                configuration: database.configuration, channel: "work", logger: log.logger)
            let group = ServiceGroup(services: [listener], logger: quiet)
            let running = Task { try await group.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()
            #expect(await wakeUps.next() == .listening)
            let session: PostgresQuery = """
                select pid from pg_stat_activity where datname = current_database() and query like 'listen%'
                """
            let first = try await other.query(session).one().decode(0, as: Int32.self)
            // Five times as long as it might have been idle.
            try await other.query("select pg_sleep(1)")
            #expect(try await other.query(session).one().decode(0, as: Int32.self) == first)
            #expect(log.lines("not listening").isEmpty)
            for _ in 0..<4 {
                let pid = try await other.query(session).one().decode(0, as: Int32.self)
                try await other.query("select pg_terminate_backend(\(pid), 10000)")
                #expect(await wakeUps.next() == .listening)
            }
            #expect(log.lines("not listening").map { $0.metadata["times"] } == ["1"])
            await group.triggerGracefulShutdown()
            try await running.value
            await other.close()
        }
    }

    @Test(
        "takes only plain names for channels",
        arguments: ["", "Work", "a\"b", "a;b", "1a", String(repeating: "a", count: 64)])
    func names(channel: String) throws {
        let configuration = try PostgresConfiguration(url: "host=h")
        #expect(throws: PostgresError.self) {
            try PostgresListener(configuration: configuration, channel: channel, logger: quiet)
        }
    }
}
