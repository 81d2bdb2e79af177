import Postgres
import TestSupport
import Testing

@testable import Outbox

@Suite("The floor of claims")
struct ClaimFloorTests {
    @Test("keeps a claim from reading what has been settled, whoever pins the vacuum horizon")
    func pinnedHorizon() async throws {
        try await withQueue(connections: 1) { queue in
            let held = try await HeldTransaction(in: queue.database, "select txid_current()::text")
            try await queue.fill(3000)
            var floor = ClaimFloor()
            let start = ContinuousClock.now
            for _ in 0..<30 {
                let lease = Lease.fresh()
                let batch = try await queue.outbox.claim(100, for: lease, from: floor.next(now: start))
                floor.learn(from: batch)
                _ = try await queue.take(batch.rows.map(\.id), token: lease.token)
            }
            let all = try await entriesRead(queue) { try await queue.outbox.claim(100, for: .fresh()) }
            // The clock's slack is longer than this test; a floor above it stands for a later hour.
            let now = try await queue.value("select now() + interval '1 s'", as: PostgresTimestamp.self)
            floor.learn(
                from: ClaimedBatch(
                    token: Lease.fresh().token, claimedAt: now.later(seconds: 60), oldestDueAt: nil, rows: []))
            let fewer = try await entriesRead(queue) {
                try await queue.outbox.claim(100, for: .fresh(), from: floor.next(now: start))
            }
            #expect(all >= 3000)
            #expect(fewer == 0)
            try await held.release()
        }
    }

    @Test("hides a row that turned up late only until the next claim that looks at everything")
    func sweep() async throws {
        try await withQueue { queue in
            var floor = ClaimFloor()
            let start = ContinuousClock.now
            try await queue.fill(1)
            floor.learn(from: try await queue.outbox.claim(1, for: .fresh(), from: floor.next(now: start)))
            // A transaction that began long ago commits only now.
            try await queue.outbox.store([[9]])
            try await queue.pool.query(
                "update storehook.outbox_queue set due_at = now() - interval '1 minute' where lease_token is null")
            #expect(try await queue.outbox.claim(1, for: .fresh(), from: floor.next(now: start)).rows.isEmpty)
            let later = start + ClaimFloor.sweepInterval
            #expect(
                try await queue.outbox.claim(1, for: .fresh(), from: floor.next(now: later)).rows.map(\.body) == [[9]])
        }
    }

    @Test("lies below what the last claim found, and below the claim itself where it found nothing")
    func learning() {
        let start = ContinuousClock.now
        let (claimed, due) = (
            PostgresTimestamp(millisecondsSince1970: 90_000), PostgresTimestamp(millisecondsSince1970: 50_000)
        )
        var floor = ClaimFloor()
        #expect(floor.next(now: start) == nil)
        floor.learn(from: ClaimedBatch(token: Lease.fresh().token, claimedAt: claimed, oldestDueAt: due, rows: []))
        #expect(floor.next(now: start) == PostgresTimestamp(millisecondsSince1970: 49_000))
        floor.learn(from: ClaimedBatch(token: Lease.fresh().token, claimedAt: claimed, oldestDueAt: nil, rows: []))
        #expect(floor.next(now: start) == PostgresTimestamp(millisecondsSince1970: 89_000))
        #expect(floor.next(now: start + ClaimFloor.sweepInterval) == nil)
    }

    /// Entries of the queue's index by due time that `body` read on the pool's only connection, dead ones included.
    private func entriesRead(_ queue: Queue, _ body: () async throws -> ClaimedBatch) async throws -> Int64 {
        let before = try await reads(queue)
        _ = try await body()
        return try await reads(queue) - before
    }

    private func reads(_ queue: Queue) async throws -> Int64 {
        try await queue.pool.query("select pg_stat_force_next_flush()::text")
        // Flushed at the end of a statement, so told by the next.
        try await queue.pool.query("select pg_stat_clear_snapshot()::text")
        return try await queue.value(
            "select idx_tup_read from pg_stat_user_indexes where indexrelname = 'outbox_queue_due'")
    }
}

extension PostgresTimestamp {
    fileprivate func later(seconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince1970: microsecondsSince1970 + seconds * 1_000_000)
    }
}
