import EvidenceStore
import Postgres
import TestSupport
import Testing

@Suite("Watching any queue")
struct WatchTests {
    @Test("gives the depth by state, in one order, zeros included, and since when the oldest waits")
    func depth() async throws {
        try await withErrands { errands in
            #expect(try await errands.queue.depth().map(\.state) == [.ready, .scheduled, .leased])
            #expect(try await errands.queue.depth().allSatisfy { $0.count == 0 && $0.oldestAge == .zero })
            let ids = try await errands.fill(5)
            try await errands.pool.query(
                "update errands set received_at = now() - interval '90 s' where id = \(ids[0])")
            let lease = Lease.fresh()
            _ = try await errands.queue.claim(3, for: lease)
            try await errands.queue.reschedule([ids[0]], by: [.seconds(60)], reason: "x", token: lease.token)
            let depth = try await errands.queue.depth()
            #expect(depth.map(\.count) == [2, 1, 2])
            #expect(depth[1].oldestAge >= .seconds(90) && depth[0].oldestAge < .seconds(90))
            #expect(try await errands.queue.pending() == 5)
        }
    }
}
