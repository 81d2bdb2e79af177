import Postgres
import TestSupport
import Testing

@testable import EvidenceStore

@Suite("The floor of claims")
struct ClaimFloorTests {
    @Test("keeps a claim from reading what has been settled, whoever pins the vacuum horizon")
    func pinnedHorizon() async throws {
        try await withErrands(connections: 1) { errands in
            let held = try await HeldTransaction(in: errands.database, "select txid_current()::text")
            try await errands.fill(3000)
            var floor = ClaimFloor()
            let start = ContinuousClock.now
            for _ in 0..<30 {
                let lease = Lease.fresh()
                let batch = try await errands.queue.claim(100, for: lease, from: floor.next(now: start))
                floor.learn(from: batch)
                _ = try await errands.take(batch.rows.map(\.id), token: lease.token)
            }
            let all = try await entriesRead(errands) { try await errands.queue.claim(100, for: .fresh()) }
            // The clock's slack is longer than this test; a floor above it stands for a later hour.
            let now = try await errands.value("select now() + interval '1 s'", as: PostgresTimestamp.self)
            floor.learn(
                from: ClaimedBatch<Void>(
                    token: Lease.fresh().token, leaseEnd: .now, claimedAt: now.later(seconds: 60), oldestDueAt: nil,
                    rows: []))
            let fewer = try await entriesRead(errands) {
                try await errands.queue.claim(100, for: .fresh(), from: floor.next(now: start))
            }
            #expect(all >= 3000)
            #expect(fewer == 0)
            try await held.release()
        }
    }

    @Test("hides a row that turned up late only until the next claim that looks at everything")
    func sweep() async throws {
        try await withErrands { errands in
            var floor = ClaimFloor()
            let start = ContinuousClock.now
            try await errands.fill(1)
            floor.learn(from: try await errands.queue.claim(1, for: .fresh(), from: floor.next(now: start)))
            // A transaction that began long ago commits only now.
            let late = try await errands.fill(1)
            try await errands.pool.query(
                "update errands set due_at = now() - interval '1 minute' where lease_token is null")
            #expect(try await errands.queue.claim(1, for: .fresh(), from: floor.next(now: start)).rows.isEmpty)
            let later = start + ClaimFloor.sweepInterval
            #expect(
                try await errands.queue.claim(1, for: .fresh(), from: floor.next(now: later)).rows.map(\.id) == late)
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
        floor.learn(
            from: ClaimedBatch<Void>(
                token: Lease.fresh().token, leaseEnd: .now, claimedAt: claimed, oldestDueAt: due, rows: []))
        #expect(floor.next(now: start) == PostgresTimestamp(millisecondsSince1970: 49_000))
        floor.learn(
            from: ClaimedBatch<Void>(
                token: Lease.fresh().token, leaseEnd: .now, claimedAt: claimed, oldestDueAt: nil, rows: []))
        #expect(floor.next(now: start) == PostgresTimestamp(millisecondsSince1970: 89_000))
        #expect(floor.next(now: start + ClaimFloor.sweepInterval) == nil)
    }

    /// Entries of the queue's index by due time that `body` read on the pool's only connection, dead ones included.
    private func entriesRead(_ errands: Errands, _ body: () async throws -> ClaimedBatch<Void>) async throws -> Int64 {
        let before = try await reads(errands)
        _ = try await body()
        return try await reads(errands) - before
    }

    private func reads(_ errands: Errands) async throws -> Int64 {
        try await errands.pool.query("select pg_stat_force_next_flush()::text")
        // Flushed at the end of a statement, so told by the next.
        try await errands.pool.query("select pg_stat_clear_snapshot()::text")
        return try await errands.value(
            "select idx_tup_read from pg_stat_user_indexes where indexrelname = 'errands_due'")
    }
}

extension PostgresTimestamp {
    fileprivate func later(seconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince1970: microsecondsSince1970 + seconds * 1_000_000)
    }
}
