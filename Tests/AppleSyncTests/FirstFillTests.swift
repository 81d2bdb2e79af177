import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import AppleRecords
import Base
import EventStore
import EvidenceStore
import Foundation
import Logging
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import Subscriptions
import TestSupport
import Testing
import Worker

@testable import AppleSync

/// A shop that has sold for months when storehook is installed: its history is fetched while others buy, and workers are cut off again and
/// again.
@Suite("Events after a first fill")
struct FirstFillTests {
    private static let catalog = """
        app: \(Site.app.bundleId)
        tiers: [{id: free}, {id: basic}, {id: premium}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: premium, period: month}
          - {id: weekly, product_id: \(SimulatedProduct.basicWeekly.id), tier: basic, period: week}
        """
    private static let day: Int64 = 86_400_000

    /// A customer's notifications, and what it buys with.
    private struct Customer {
        var token: UniqueIdentifier
        var notifications: [ScriptedApple.Listed]
    }

    private func customer(
        _ lane: Int, _ site: Site, _ live: (inout SimulatedSubscriber, _ now: Int64) -> Void
    ) -> Customer {
        let token = AccountToken.of("customer-\(lane)")
        var customer = SimulatedSubscriber(
            app: Site.app, appAccountToken: token.description, lane: lane, seed: UInt64(lane))
        live(&customer, ImpatientClock().now().millisecondsSince1970)
        return Customer(
            token: token,
            notifications: customer.takeNotifications().map {
                .init(signedDate: $0.signedDate, jws: $0.signed(by: site.authority))
            })
    }

    /// Who bought long before: some have access still, some had, some got their money back.
    private func earlier(_ lane: Int, _ site: Site) -> Customer {
        customer(lane, site) { customer, now in
            let line = customer.buy(.premiumMonthly, at: now - 170 * Self.day + Int64(lane % 400) * 3_700_000)
            for _ in 0..<(lane % 2 == 0 ? 5 : 4) { customer.renew(line) }
            if lane % 3 == 0 {
                customer.refund(customer.latest(of: line), at: now - 3 * Self.day + Int64(lane % 400) * 1000)
            }
        }
    }

    @Test(
        "folded they give what is read, for all who bought before and all who buy meanwhile, and each who bought before is told of once"
    )
    func fill() async throws {
        let count = takesAllSamples ? 5000 : 40
        try await withSite(pageSize: 20) { site in
            _ = try await AccountStore(site.pool).apply(Self.catalog, by: "test")
            let before = (1...count).map { earlier($0, site) }
            let others = (1...max(count / 10, 12)).map { lane in
                customer(100_000 + lane, site) { $0.buy(.basicWeekly, at: $1 - 3_600_000) }
            }
            // Lost in the hour in which all began, which is planned when it is over.
            let lost = (1...8).map { lane in
                customer(200_000 + lane, site) { $0.buy(.basicWeekly, at: $1 - 60_000) }
            }
            site.apple.list(before.flatMap(\.notifications))
            try await withCutOffWorkers(site) {
                for other in others {
                    try await site.post(other.notifications.map(\.jws))
                    try await Task.sleep(for: .milliseconds(20))
                }
                try await settled(site)
            }
            #expect(try await site.value("select min(first_asked_at) is not null from storehook.history_windows"))
            site.apple.list((before + lost).flatMap(\.notifications))
            try await site.replan()
            try await withCutOffWorkers(site) { try await settled(site) }
            try await finish(site)
            try await expectWhole(site)
            for (what, customers) in [("lost", lost), ("posted", others)] {
                for customer in customers where try await told(customer, site) < 2 {
                    Issue.record("a purchase that was \(what) has too few events: \(try await story(customer, site))")
                }
            }
            for customer in before where try await told(customer, site) != 2 {
                Issue.record("an earlier purchase has not two events: \(try await story(customer, site))")
            }
        }
    }

    private func told(_ customer: Customer, _ site: Site) async throws -> Int64 {
        try await site.value("select count(*) from storehook.events where token = \(UUID(customer.token))")
    }

    /// What is on record of a customer, for a failure's text.
    private func story(_ customer: Customer, _ site: Site) async throws -> String {
        try await site.value(
            """
            with lines as (select * from storehook.account_lines where token = \(UUID(customer.token)))
            select concat_ws(E'\\n', customer, notifications, events, purchases, accounts)
              from (
                select (select coalesce(string_agg(l::text, '; '), 'no line') from lines l) as customer,
                       (select string_agg(n::text, E'\\n') from storehook.notifications n join lines using (original_transaction_id))
                            as notifications,
                       (select string_agg(e::text, E'\\n') from storehook.events e
                         where e.token = \(UUID(customer.token))
                            or e.original_transaction_id in (select original_transaction_id from lines)) as events,
                       (select string_agg(p::text, E'\\n') from storehook.purchase_tellings p join lines using (original_transaction_id))
                            as purchases,
                       (select string_agg(a::text, E'\\n') from storehook.access_tellings a
                         where a.token = \(UUID(customer.token))) as accounts) s
            """)
    }

    /// All that Apple lists was asked for, applied, and told.
    private func settled(_ site: Site) async throws {
        let events = EventStore(site.pool)
        try await eventually("all is told", within: .seconds(takesAllSamples ? 1800 : 120)) {
            let open = try await site.history.open([Site.scope])
            // A window whose asking was cut off is neither due nor leased while it waits to be asked again.
            let isAsked: Bool = try await site.value(
                "select not exists (select from storehook.history_windows where asked_at is null)")
            let queued: Int64 = try await site.value("select count(*) from storehook.outbox_queue")
            let isOwed = try await events.isOwed()
            return open.due == 0 && open.leased == 0 && isAsked && queued == 0 && !isOwed
        }
    }

    /// No worker is at it any more: what is due is told, and what was told gets its place.
    private func finish(_ site: Site) async throws {
        let (events, accounts) = (EventStore(site.pool), AccountStore(site.pool))
        for due in EventStore.Due.allCases {
            while try await events.tick(due, accounts, upTo: try await site.outbox.appliedThrough()).taken > 0 {}
            while try await events.walk(due, accounts).taken > 0 {}
        }
        while try await events.place() > 0 {}
    }

    /// Three workers with their clocks, who also ask Apple, and whose connections are ended at random while `body` lasts.
    private func withCutOffWorkers(_ site: Site, _ body: @Sendable () async throws -> Void) async throws {
        let url = site.database.url
        let named = url + (url.contains("://") ? (url.contains("?") ? "&" : "?") : " ") + "application_name=cut_off"
        let configuration = try PostgresConfiguration(url: named)
        var services: [any Service] = []
        for number in 0..<3 {
            let pool = PostgresPool(configuration: configuration, size: 4, logger: quiet)
            let clock = EventClock(
                EventStore(pool), AccountStore(pool), Outbox(pool), interval: .milliseconds(50), logger: quiet,
                metrics: EventMetrics())
            let worker = Worker(
                pool: pool, verifier: site.verifier,
                ledger: Ledger(policy: StatusPolicy(renewalLeewaySeconds: 600)), listener: nil,
                configuration: WorkerConfiguration(
                    name: "cut off \(number)", batchSize: takesAllSamples ? 50 : 7, lease: .seconds(5),
                    retries: .init(from: .milliseconds(10), upTo: .milliseconds(50)),
                    pollInterval: .milliseconds(20)),
                clock: clock, logger: quiet)
            let history = DutyRunner(
                HistoryDuty(History(pool), sharing: nil, logger: quiet, metrics: AppleSyncMetrics()),
                try site.clients(), owner: "cut off \(number)", interval: .milliseconds(50))
            services += [pool, worker, clock, history]
        }
        let group = ServiceGroup(services: services, logger: quiet)
        let running = Task { try await group.run() }
        let killer = Task {
            // By progress, and not by time alone: on a busy machine no transaction would live to its end.
            var before: Int64?
            var waits = 0
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(takesAllSamples ? 400 : 60))
                let now = try? await done(site)
                waits += 1
                if let now, now == before, waits < 15 { continue }
                (before, waits) = (now, 0)
                _ = try? await site.pool.query(
                    """
                    select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = current_database() and application_name = 'cut_off' order by random() limit 1
                    """)
                // A window that a killed worker held is taken over at once, and not after its lease.
                _ = try? await site.pool.query(
                    "update storehook.history_queue set due_at = now() where lease_token is not null and random() < 0.05"
                )
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

    /// How much is stored, applied and sent: it grows while any worker gets on.
    private func done(_ site: Site) async throws -> Int64 {
        try await site.value(
            """
            select (select count(*) from storehook.outbox) + (select count(*) from storehook.notifications)
                 + (select count(*) from storehook.events)
            """)
    }

    private func expectWhole(_ site: Site) async throws {
        for check in FoldedEvents.checks {
            #expect(try await site.value(check.query, as: Int64.self) == 0, "\(check.what)")
        }
        let checked = try await EventStore(site.pool).checkAccounts()
        #expect(checked.looked > 0 && checked.differing == 0 && checked.overdue == 0, "\(checked)")
        let accounts: Int64 = try await site.value("select count(*) from storehook.account_status_now where access")
        #expect(accounts > 0)
    }
}
