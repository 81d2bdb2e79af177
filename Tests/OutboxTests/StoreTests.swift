import Foundation
import Outbox
import Postgres
import Queue
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
