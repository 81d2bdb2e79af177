import AccountStore
import EventStore
import Events
import EvidenceStore
import Logging
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing
import Worker

/// Lives of the simulator, told while they come in any order, twice or only later, and workers are cut off again and again.
@Suite("Events of many lives")
struct EventLifeTests {
    private static let catalog = """
        app: \(Bench.app.bundleId)
        tiers: [{id: free}, {id: basic}, {id: premium}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: premium, period: month}
          - {id: yearly, product_id: \(SimulatedProduct.premiumYearly.id), tier: premium, period: year}
          - {id: weekly, product_id: \(SimulatedProduct.basicWeekly.id), tier: basic, period: week}
          - {id: basic, product_id: \(SimulatedProduct.basicMonthly.id), tier: basic, period: month}
        """

    @Test(
        "each account's come in sequence without a gap, the last says what stands, each thing is told once, and nothing is missing"
    )
    func lives() async throws {
        try await withBench { bench in
            _ = try await AccountStore(bench.pool).apply(Self.catalog, by: "test")
            var generator = SeededGenerator()
            let simulation = Simulation(
                seed: generator.seed, subscribers: 60, notifications: 700, duplicatePercent: 10, order: .shuffled,
                endingAt: Bench.now)
            let deliveries = zip(simulation.deliveries, simulation.signedDeliveries(by: bench.authority))
                .map { (unique: $0.unique, text: $1) }
            let lost = Set(
                Set(deliveries.map(\.unique)).sorted().filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
            let posted = deliveries.filter { !lost.contains($0.unique) }.map(\.text)
            let fetched = deliveries.filter { lost.contains($0.unique) }
                .map { Evidence(.notification, from: .history, Array($0.text.utf8)) }
            try await withCutOffWorkers(3, bench) {
                try await bench.store(posted)
                try await bench.untilDone()
                try await bench.outbox.store(fetched)
                try await bench.untilDone()
            }
            // No worker is at it any more: what is due is told, and what was told gets its place.
            let events = EventStore(bench.pool)
            let accounts = AccountStore(bench.pool)
            for due in EventStore.Due.allCases {
                while try await events.tick(due, accounts, upTo: try await bench.outbox.appliedThrough()).taken > 0 {}
            }
            while try await events.place() > 0 {}
            try await expectWhole(bench, seed: generator.seed)
        }
    }

    /// Three workers and their clocks, whose connections are ended at random while `body` lasts.
    private func withCutOffWorkers(_ count: Int, _ bench: Bench, _ body: @Sendable () async throws -> Void) async throws
    {
        let url = bench.database.url
        let named = url + (url.contains("://") ? (url.contains("?") ? "&" : "?") : " ") + "application_name=cut_off"
        let configuration = try PostgresConfiguration(url: named)
        var services: [any Service] = []
        for number in 0..<count {
            let pool = PostgresPool(configuration: configuration, size: 4, logger: quiet)
            let clock = EventClock(
                EventStore(pool), AccountStore(pool), Outbox(pool),
                interval: .milliseconds(50), logger: quiet, metrics: EventMetrics())
            let worker = Worker(
                pool: pool, verifier: bench.verifier(), ledger: .init(policy: StatusPolicy(renewalLeewaySeconds: 600)),
                listener: nil,
                configuration: WorkerConfiguration(
                    name: "cut off \(number)", batchSize: 7, lease: .seconds(5),
                    retries: .init(from: .milliseconds(10), upTo: .milliseconds(50)),
                    pollInterval: .milliseconds(20)),
                clock: clock, logger: quiet)
            services += [pool, worker, clock]
        }
        let group = ServiceGroup(services: services, logger: quiet)
        let running = Task { try await group.run() }
        let killer = Task {
            while !Task.isCancelled {
                _ = try? await bench.pool.query(
                    """
                    select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = current_database() and application_name = 'cut_off' order by random() limit 1
                    """)
                try? await Task.sleep(for: .milliseconds(60))
            }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        killer.cancel()
        await killer.value
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    private func expectWhole(_ bench: Bench, seed: UInt64) async throws {
        let checks: [(String, PostgresQuery)] = [
            (
                "a period was told twice",
                """
                select count(*) from (
                    select from storehook.events e cross join lateral (
                           select ('{' || e.content || '}')::jsonb -> 'transaction' ->> 'transactionId' as id) t
                     where t.id is not null and e.kind not like '%refund%'
                     group by e.original_transaction_id, t.id having count(*) > 1) twice
                """
            ),
            (
                "a period was not told",
                """
                select count(*) from storehook.transactions t
                 where t.expires_at is not null and not exists (
                       select from storehook.events e
                        where e.original_transaction_id = t.original_transaction_id
                          and (e.content like '%"transactionId":"' || t.transaction_id || '"%'
                               or exists (
                                    select from storehook.transactions o
                                     where o.web_order_line_item_id = t.web_order_line_item_id
                                       and e.content like '%"transactionId":"' || o.transaction_id || '"%')
                               or e.kind in ('subscription.renewed', 'subscription.recovered', 'subscription.started',
                                             'subscription.converted')
                                  and e.content not like '%"transaction":{%'))
                """
            ),
            (
                "a version is above what is read",
                """
                select count(*) from storehook.events e left join storehook.account_status_now s using (token, environment)
                 where e.token is not null and e.version > coalesce(s.version, 0)
                """
            ),
            (
                "an event has no place, or an order is another in the feed",
                """
                select count(*) from (
                    select e.id, p.position,
                           lag(p.position) over (partition by token, environment,
                                                 case when token is null then original_transaction_id end
                                                 order by sequence) as before
                      from storehook.events e left join storehook.event_positions p using (id)) placed
                 where position is null or before > position
                """
            ),
        ]
        for (what, query) in FoldedEvents.checks + checks {
            #expect(try await bench.value(query, as: Int64.self) == 0, "\(what), seed \(seed)")
        }
        let told: Int64 = try await bench.value("select count(*) from storehook.events")
        let corrected: Int64 = try await bench.value("select count(*) from storehook.events where is_correction")
        #expect(told > 500 && corrected > 0)
        #expect(
            try await bench.value(
                "select count(*) from storehook.event_feed f where f.last_position = \(told)", as: Int64.self)
                == 1)
    }
}
