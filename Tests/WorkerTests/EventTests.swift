import AccountStore
import Events
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing
import Worker

@Suite("Events, beside what workers apply")
struct EventTests {
    private static let catalog = """
        app: \(Bench.app.bundleId)
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: pro, period: month}
        """

    /// A purchase that is cancelled, with an account or without one.
    private func life(_ lane: Int, _ bench: Bench) -> [String] {
        var subscriber = SimulatedSubscriber(
            app: Bench.app,
            appAccountToken: lane.isMultiple(of: 2) ? "7f1de78e-0d4e-4c5e-9d3c-00000000000\(lane)" : nil,
            lane: lane, seed: UInt64(lane))
        let line = subscriber.buy(.premiumMonthly, at: Bench.now - 3_600_000)
        subscriber.switchAutoRenew(line, on: false, at: Bench.now - 1_800_000)
        return subscriber.takeNotifications().map { $0.signed(by: bench.authority) }
    }

    @Test("what is applied is told once, however often it comes, and the last event says what stands")
    func told() async throws {
        try await withBench { bench in
            _ = try await AccountStore(bench.pool).apply(Self.catalog, by: "test")
            var generator = SeededGenerator()
            for _ in 0..<2 {
                try await bench.store((1...9).flatMap { life($0, bench) }.shuffled(using: &generator))
                for _ in 0..<2 {
                    try await bench.withWorker(batch: 4) { _ in try await bench.untilDone() }
                }
            }
            let same: Int64 = try await bench.value(
                """
                select count(*)
                  from storehook.subscription_status s
                 cross join lateral (
                       select ('{' || e.content || '}')::jsonb -> 'subscription' ->> 'status' as status
                         from storehook.events e
                        where e.original_transaction_id = s.original_transaction_id
                          and e.kind like 'subscription.%'
                        order by e.sequence desc limit 1) told
                 where told.status = s.status
                """)
            #expect(same == 9)
            let odd: Int64 = try await bench.value(
                """
                select count(*) from (
                    select count(*) as events, max(sequence) as last, count(distinct kind) filter (
                               where kind in ('subscription.started', 'subscription.expired')) as kinds,
                           count(*) filter (where kind = 'subscription.started') as starts
                      from storehook.events group by token, case when token is null then original_transaction_id end) orders
                 where events <> last or kinds <> 2 or starts <> 1
                """)
            #expect(odd == 0)
            let unplaced: Int64 = try await bench.value("select unplaced from storehook.telling_status")
            #expect(try await bench.value("select count(*) from storehook.events") == unplaced)
        }
    }

    @Test("where it is measured what telling costs, none are written")
    func silent() async throws {
        try await withBench { bench in
            try await bench.store(life(1, bench))
            try await bench.withWorker(telling: nil) { _ in try await bench.untilDone() }
            #expect(try await bench.value("select count(*) from storehook.events") == 0 as Int64)
            #expect(try await bench.value("select count(*) from storehook.purchase_tellings") == 0 as Int64)
        }
    }
}
