import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Storing")
struct StoreTests {
    @Test("puts all of a group on the queue or none of it")
    func allOrNone() async throws {
        try await withQueue { queue in
            let tooLong = [UInt8](repeating: 0, count: Outbox.maximumBodySize + 1)
            await #expect(throws: PostgresError.self) { try await queue.outbox.store([[1], tooLong, [2]]) }
            let (received, queued) = (try await queue.outbox.conservation().received, try await queue.rows())
            #expect(received == 0)
            #expect(queued.isEmpty)
        }
    }

    @Test("numbers a group in its order")
    func order() async throws {
        try await withQueue { queue in
            try await queue.fill(200)
            let bodies = try await queue.outbox.claim(200, for: .fresh()).rows.map {
                String(decoding: $0.body ?? [], as: UTF8.self)
            }
            #expect(bodies == (0..<200).map(String.init))
        }
    }

    @Test("is announced to whoever listens; so are replaying and giving back")
    func announced() async throws {
        try await withQueue { queue in
            let listener = try PostgresListener(
                configuration: queue.database.configuration, channel: Outbox.table.channel, logger: quiet)
            let listening = Task { try await listener.run() }
            var wakeUps = listener.wakeUps.makeAsyncIterator()
            #expect(await wakeUps.next() == .listening)

            try await queue.fill(50)
            #expect(await wakeUps.next() == .notified)

            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(2, for: lease).rows
            try await queue.outbox.queue.release([claimed[0].id], token: lease.token)
            #expect(await wakeUps.next() == .notified)

            try await queue.bury([claimed[1]], lease)
            _ = try await queue.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil)
            #expect(await wakeUps.next() == .notified)
            listening.cancel()
            try await listening.value
        }
    }

    /// An outbox whose statements meet another `pg_notify` than PostgreSQL's.
    private func withNotify(
        _ queue: OutboxBench, _ definition: String, _ body: (Outbox) async throws -> Void
    ) async throws {
        try await queue.pool.withTransaction { session in
            try session.executeScript(
                """
                create schema hints;
                create table hints.sent (at timestamptz default clock_timestamp());
                create function hints.pg_notify(text, text) returns void \(definition);
                """)
        }
        let url = queue.database.url
        let options = "options=-c%20search_path%3Dhints,pg_catalog"
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: url + (url.contains("?") ? "&" : "?") + options), size: 3,
            logger: quiet)
        let result: Result<Void, any Error>
        do { result = .success(try await body(Outbox(pool))) } catch { result = .failure(error) }
        await pool.close()
        try result.get()
    }

    @Test("succeeds where announcing fails, as it does once a listener has let PostgreSQL's queue of notices fill up")
    func announcingFails() async throws {
        try await withQueue { queue in
            let refuse = "begin raise exception 'too many notifications' using errcode = '54000'; end"
            try await withNotify(queue, "language plpgsql as $$ \(refuse) $$") { outbox in
                try await outbox.store([[1], [2], [3]])
                let lease = Lease.fresh()
                let claimed = try await outbox.claim(3, for: lease).rows
                #expect(claimed.count == 3)
                try await outbox.queue.release([claimed[0].id], token: lease.token)
                try await queue.bury([claimed[1]], lease)
                #expect(
                    try await outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil).count == 1)
            }
        }
    }

    @Test("is announced in few notices, however many commits there are")
    func coalesced() async throws {
        try await withQueue { queue in
            let count = "language sql as 'insert into hints.sent default values'"
            try await withNotify(queue, count) { outbox in
                let began = ContinuousClock.now
                for _ in 0..<200 { try await outbox.store([[1]]) }
                let took = ContinuousClock.now - began
                try await eventually("the last of them was announced") {
                    try await queue.value(
                        "select coalesce(max(at) > (select max(received_at) from storehook.outbox), false) from hints.sent",
                        as: Bool.self)
                }
                let sent = try await queue.value("select count(*) from hints.sent", as: Int64.self)
                // One at once, one for the rest, and one each 25 ms of the time between.
                #expect(sent <= 3 + Int64(took / .milliseconds(25)))
            }
        }
    }

    @Test("succeeds while the day's partition is being made, or fails as a whole")
    func duringPartitioning() async throws {
        try await withQueue(connections: 8) { queue in
            let stored = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var stored: Int64 = 0
                        for _ in 0..<30 {
                            // A row on its way to the default partition while its day is attached is refused.
                            if (try? await queue.outbox.store([[1], [2]])) != nil { stored += 2 }
                        }
                        return stored
                    }
                }
                group.addTask {
                    for _ in 0..<5 { try await Self.makeTodayAnew(queue) }
                    return 0
                }
                return try await group.reduce(0, +)
            }
            let counted = try await queue.outbox.conservation()
            #expect(counted.received == stored)
            #expect(counted.pending == counted.received)
        }
    }

    /// Moves today's rows to the default partition, and makes their partition again.
    private static func makeTodayAnew(_ queue: OutboxBench) async throws {
        let today = try await queue.value(
            "select 'storehook.outbox_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')", as: String.self)
        try await queue.pool.withTransaction { session in
            try session.query("alter table storehook.outbox detach partition \(unescaped: today)")
            try session.query("alter table \(unescaped: today) rename to kept")
            try session.query("insert into storehook.outbox_default select * from storehook.kept")
            try session.query("drop table storehook.kept")
        }
        try await queue.outbox.ensurePartitions()
    }
}
