import Postgres
import TestSupport
import Testing

@testable import EvidenceStore

@Suite("Watching the queue")
struct WatchTests {
    @Test("gives the depth by state, in one order, zeros included")
    func depth() async throws {
        try await withQueue { queue in
            #expect(try await queue.outbox.depth().map(\.state) == [.ready, .scheduled, .leased, .dead])
            #expect(try await queue.outbox.depth().allSatisfy { $0.count == 0 && $0.oldestAge == .zero })
            try await queue.fill(4)
            let lease = Lease.fresh()
            let claimed = try await queue.outbox.claim(3, for: lease).rows
            try await queue.outbox.queue.reschedule(
                [claimed[0].id], by: [.seconds(60)], reason: "x", token: lease.token)
            try await queue.bury([claimed[1]], lease)
            #expect(try await queue.outbox.depth().map(\.count) == [1, 1, 1, 1])
            // The view that others read says of the queue what the queue says of itself.
            let own = try await queue.outbox.queue.depth()
            let depth = try await queue.outbox.depth()
            #expect(depth.map(\.reason) == [nil, "x", nil, "wrong_bundle"])
            #expect(depth.map { $0.nextDueAt != nil } == [false, true, true, false])
            #expect(own.map(\.reason) == [nil, "x", nil] && own.map(\.nextDueAt) == depth.prefix(3).map(\.nextDueAt))
            let waiting = try await queue.pool.query(
                "select reason, count, next_due_at = last_due_at from storehook.queue_waiting"
            ).one().values(String.self, Int64.self, Bool.self)
            #expect(waiting == ("x", 1, true))
            #expect(own.map(\.state) == [.ready, .scheduled, .leased] && own.map(\.count) == [1, 1, 1])
        }
    }

    @Test("counts what came in and what was done in the last minute, and nothing older")
    func rate() async throws {
        try await withQueue { queue in
            try await queue.fill(3)
            try await queue.pool.query(
                """
                insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at,
                                                     received_at, applied_at, outcome)
                select gen_random_uuid(), n, 'TEST', 'Sandbox', 'a', now(), now(), now() - n * interval '50 s', 'applied'
                  from generate_series(1, 4) n
                """)
            #expect(try await queue.outbox.rate() == QueueRate(receivedLastMinute: 3, appliedLastMinute: 1))
        }
    }

    @Test("finds the queue where there is one, and fails where the database is unavailable")
    func ping() async throws {
        try await withQueue { queue in
            try await queue.outbox.ping()
            let proxy = try await DatabaseProxy(to: queue.database)
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 1, logger: quiet)
            try await Outbox(pool).ping()
            proxy.refuse()
            await #expect(throws: PostgresError.self) { try await Outbox(pool).ping() }
            try proxy.serve()
            try await eventually("the database is back") {
                do {
                    try await Outbox(pool).ping()
                    return true
                } catch { return false }
            }
            await pool.close()
            proxy.refuse()
        }
    }

    @Test("says no where there is no queue, so that nobody takes a receiver without tables for ready")
    func pingWithoutTables() async throws {
        try await withTestDatabase { database in
            let pool = PostgresPool(configuration: database.configuration, size: 1, logger: quiet)
            await #expect(throws: PostgresError.self) { try await Outbox(pool).ping() }
            await pool.close()
        }
    }
}
