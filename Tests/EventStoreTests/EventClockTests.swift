import AccountStore
import Accounts
import AppStorePayloads
import Base
import EventStore
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import ServiceLifecycle
import Subscriptions
import TestSupport
import Testing
import Worker

@Suite("The clock as a cause")
struct EventClockTests {
    @Test(
        "without a word from Apple every kind of end is told by itself, with its instant, by any number of clocks, once"
    )
    func ends() async throws {
        try await EventDatabase.with(leewaySeconds: 1) { site in
            // Before and after which all ends lie.
            let soon = Timestamp(
                try await site.value("select clock_timestamp() + interval '1500 ms'", as: PostgresTimestamp.self))
            let month = soon.adding(days: -30)..<soon
            try await site.apply([
                Records.span(purchase(1), month, account: token(1), renews: false, at: month.lowerBound, isTrial: true),
                Records.span(purchase(2), month, account: token(2), renews: false, at: month.lowerBound),
                Records.span(purchase(3), month, account: token(3), renews: true, at: month.lowerBound),
                Records.span(
                    purchase(4), soon.adding(days: -31)..<soon.adding(days: -1), account: token(4),
                    type: .didFailToRenew,
                    at: soon.adding(days: -1), grace: soon),
            ])
            try await shorten(
                "staff_acts", "at = \(site.instant(soon.adding(days: -1)))", site
            ) { _ = try await site.pipeline.act(.grant(tier: "pro", days: 1), for: "person-5", by: "desk", why: "why") }
            try await shorten(
                "trials",
                "started_at = \(site.instant(soon.adding(days: -7))), ends_at = \(site.instant(soon))",
                site
            ) { _ = try await site.pipeline.startTrial(of: "person-6") }
            let log = RecordedLog()
            let clocks = (0..<3).map { _ in
                EventClock(
                    site.events, site.accounts, Outbox(site.pool), interval: .milliseconds(200), logger: log.logger,
                    metrics: EventMetrics())
            }
            let group = ServiceGroup(services: clocks, logger: quiet)
            let running = Task { try await group.run() }
            try await eventually("all ends are told, and have a place") {
                try await site.value(
                    """
                    select (select count(*) from storehook.events
                             where kind = 'account.access_changed' and content like '%"access":{"tier":"free"%') = 6
                       and not exists (select from storehook.events_unplaced)
                    """)
            }
            await group.triggerGracefulShutdown()
            try await running.value
            let ends: [(Int, String, Timestamp)] = [
                (1, "expired", soon), (2, "expired", soon), (3, "expired", soon.adding(seconds: 1)),
                (4, "billing_retry_started", soon), (5, "", soon), (6, "", soon),
            ]
            for (number, kind, instant) in ends {
                let last = try await site.pool.query(
                    """
                    select kind, at, is_late, content from storehook.events
                     where token = \(UUID(token(number))) order by sequence desc limit 2
                    """
                ).map {
                    (
                        kind: try $0.decode(0, as: String.self),
                        at: Timestamp(try $0.decode(1, as: PostgresTimestamp.self)),
                        late: try $0.decode(2, as: Bool.self), content: try $0.decode(3, as: String.self)
                    )
                }
                #expect(last.first?.kind == "account.access_changed", "\(number)")
                if !kind.isEmpty { #expect(last.last?.kind == "subscription.\(kind)", "\(number)") }
                for event in last.prefix(kind.isEmpty ? 1 : 2) {
                    #expect(event.at == instant && !event.late, "\(number)")
                    #expect(event.content.contains(#""cause":{"kind":"clock","uuid":""#), "\(number)")
                }
            }
            #expect(try await site.gaps() == 0)
            #expect(try await site.aheadOfReads() == 0)
            // Two trials have ended, Apple's and the app's own, perhaps within a second.
            let lines = log.lines("Ended a trial").map(\.metadata)
            #expect((1...2).contains(lines.count) && log.lines("Converted a trial").isEmpty)
            for line in lines {
                #expect([1, 6].contains { line["app_account_token"] == "\(token($0))" }, "\(line)")
                #expect(line["tier"] == "free" && line["status"] == "trial_expired" && line["reason"] == "clock")
                #expect(
                    line["tier_before"] == "pro" && line["ends"] == "\(soon)" && line["environment"] == "Production")
            }
        }
    }

    /// Does something that lasts for days, and moves it into the past.
    private func shorten(
        _ table: String, _ change: PostgresQuery, _ site: EventDatabase, _ act: () async throws -> Void
    ) async throws {
        try await act()
        try await site.pool.query(
            "update storehook.\(unescaped: table) set \(embedding: change)")
        let accounts = site.accounts
        try await site.pool.withTransaction { session in _ = try accounts.rederive(after: nil, repair: true, session) }
    }

    @Test(
        "after a day away no end is told of what Apple has posted the renewal meanwhile, and the rest is told late, in order"
    )
    func away() async throws {
        try await EventDatabase.with { site in
            try await site.apply(
                (1...2).map { Records.period(purchase($0), from: -31, to: -1, account: token($0), renews: $0 == 1) },
                at: Records.now.adding(days: -2))
            // Posted moments after the end, and not applied so far; another account's end is not due before it.
            try await site.pool.query(
                """
                insert into storehook.outbox_queue (id, received_at, due_at)
                values (1, \(site.instant(Records.now.adding(days: -1).adding(seconds: 5))),
                        \(site.instant(Records.now.adding(days: -1).adding(seconds: 5))))
                """)
            let outbox = Outbox(site.pool)
            #expect(Timestamp(try await outbox.appliedThrough()) == Records.now.adding(days: -1).adding(seconds: 5))
            _ = try await site.tick(upTo: try await outbox.appliedThrough())
            // Nothing was going to renew it: its end is told already, as it would have been told then.
            #expect(
                try await site.told("token = \(UUID(token(2)))").suffix(2).map { $0.dropFirst(2) }
                    == ["subscription.expired", "account.access_changed"])
            let late: Bool = try await site.value(
                """
                select bool_and(is_late) from storehook.events
                 where token = \(UUID(token(2)))
                   and (kind = 'subscription.expired' or content like '%"access":{"tier":"free"%')
                """)
            #expect(late)
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed"])
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: token(1), number: 1)])
            try await site.pool.query("delete from storehook.outbox_queue")
            _ = try await site.runClock()
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed", "3 subscription.renewed"])
        }
    }

    @Test("who cannot be told is put off, and keeps nobody else from being told")
    func poison() async throws {
        try await EventDatabase.with { site in
            try await site.apply(
                (1...5).map { Records.period(purchase($0), from: -32, to: -2, account: token($0), renews: false) },
                at: Records.now.adding(days: -31))
            // As a release to come may write them: a purchase, and an account of another's end.
            try await site.pool.query(
                """
                update storehook.purchase_tellings set told = '9|?'
                 where original_transaction_id = \(purchase(3).originalTransactionID)
                """)
            try await shorten("staff_acts", "at = now() - interval '25 hours'", site) {
                for person in ["ann", "bob"] {
                    _ = try await site.pipeline.act(
                        .grant(tier: "pro", days: 1), for: AccountIdentity(named: person), by: "desk", why: "why")
                }
            }
            let bob = AccountToken.of("bob")
            try await site.pool.query(
                "update storehook.access_tellings set told = '9|?', due_at = now() - interval '2 hours' where token = \(UUID(bob))"
            )
            try await site.pool.query(
                "update storehook.access_tellings set due_at = now() - interval '1 hour' where token = \(UUID(AccountToken.of("ann")))"
            )
            let clock = EventClock(
                site.events, site.accounts, Outbox(site.pool), interval: .milliseconds(50), logger: quiet,
                metrics: EventMetrics())
            let group = ServiceGroup(services: [clock], logger: quiet)
            let running = Task { try await group.run() }
            try await eventually("all others are told, and what cannot be is put off") {
                try await site.value(
                    """
                    select (select count(*) from storehook.events where kind = 'subscription.expired') = 4
                       and not exists (select from storehook.purchase_tellings where due_at <= now())
                       and not exists (select from storehook.access_tellings where due_at <= now())
                    """)
            }
            await group.triggerGracefulShutdown()
            try await running.value
            let postponed = try await site.pool.query(
                """
                select original_transaction_id from storehook.purchase_tellings
                 where due_at between now() + interval '59 minutes' and now() + interval '61 minutes'
                 union all
                select token::text from storehook.access_tellings
                 where due_at between now() + interval '59 minutes' and now() + interval '61 minutes'
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(Set(postponed) == [purchase(3).originalTransactionID, UUID(bob).uuidString.lowercased()])
        }
    }

    @Test("an event that the database refuses for a fault of its own is written soon after the fault is mended")
    func refused() async throws {
        try await EventDatabase.with { site in
            try await site.apply(
                (1...5).map { Records.period(purchase($0), from: -32, to: -2, account: token($0), renews: false) },
                at: Records.now.adding(days: -31))
            let fault = RefusingTrigger(of: "events")
            try await site.pool.withTransaction { try $0.executeScript(fault.script) }
            let clock = EventClock(
                site.events, site.accounts, Outbox(site.pool), interval: .milliseconds(50), logger: quiet,
                metrics: EventMetrics())
            let group = ServiceGroup(services: [clock], logger: quiet)
            let running = Task { try await group.run() }
            try await eventually("something was put off") {
                try await site.value(
                    "select exists (select from storehook.purchase_tellings where due_at > now() and due_at < now() + interval '1 minute')"
                )
            }
            let putOff: PostgresQuery =
                "select count(*) from storehook.purchase_tellings where due_at > now() + interval '11 seconds' and due_at < 'infinity'"
            #expect(try await site.value(putOff, as: Int64.self) == 0)
            try await site.pool.withTransaction { try $0.executeScript(fault.repair) }
            try await eventually("all are told") {
                try await site.value(
                    "select (select count(*) from storehook.events where kind = 'subscription.expired') = 5")
            }
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }

    @Test("what waits leased for the first time is waited for, what was put off is not")
    func reached() async throws {
        try await EventDatabase.with { site in
            let outbox = Outbox(site.pool)
            let old = Records.now.adding(days: -1)
            func put(due: String, lease: Bool, attempts: Int16) async throws -> Timestamp {
                try await site.pool.query("delete from storehook.outbox_queue")
                try await site.pool.query(
                    """
                    insert into storehook.outbox_queue (id, received_at, due_at, attempts, lease_owner, lease_token)
                    values (1, \(site.instant(old)), now() + \(due)::text::interval, \(attempts),
                            \(lease ? "w" : nil), \(lease ? UUID() : nil))
                    """)
                return Timestamp(try await outbox.appliedThrough())
            }
            let fresh = try await put(due: "1 minute", lease: true, attempts: 1)
            #expect(fresh == old)
            let again = try await put(due: "1 minute", lease: true, attempts: 2)
            #expect(again > old)
            let putOff = try await put(due: "1 hour", lease: false, attempts: 1)
            #expect(putOff > old)
        }
    }
}

extension EventDatabase {
    func instant(_ instant: Timestamp) -> PostgresTimestamp {
        PostgresTimestamp(millisecondsSince1970: instant.millisecondsSince1970)
    }
}
