import AccountStore
import AppStorePayloads
import Base
import EventStore
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

@Suite("What is told of everybody")
struct WalkTests {
    private static let dearer = """
        app: com.example.app
        tiers:
          - id: free
          - id: pro
          - id: premium
        products:
          - {id: basic, product_id: basic, tier: premium, period: month}
        """

    @Test("another catalog is told once to each account that it makes another, in portions, by any number of workers")
    func catalog() async throws {
        try await EventDatabase.with { site in
            let count = 230
            for page in stride(from: 0, to: count, by: 100) {
                try await site.apply(
                    (page..<min(page + 100, count)).map {
                        Records.period(purchase($0), from: -1, to: 29, account: token($0))
                    })
            }
            _ = try await site.walkAll()
            let before: Int64 = try await site.value("select count(*) from storehook.events")
            #expect(before == Int64(2 * count))
            _ = try await site.accounts.apply(Self.dearer, by: "test")
            // One of them hears something new before its turn.
            try await site.apply([
                Records.period(
                    purchase(7), from: -1, to: 29, account: token(7), renews: false, type: .didChangeRenewalStatus)
            ])
            let portions = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 { group.addTask { try await site.walkAll() } }
                return try await group.reduce(0, +)
            }
            #expect(portions >= 3)
            let told: Int64 = try await site.value(
                """
                select count(*) from storehook.events
                 where kind = 'account.access_changed' and content like '%"kind":"catalog"%'
                """)
            #expect(told == Int64(count))
            let twice: Int64 = try await site.value(
                """
                select count(*) from (
                    select from storehook.events where content like '%"kind":"catalog"%' group by token having count(*) > 1) t
                """)
            #expect(twice == 0)
            #expect(try await site.gaps() == 0)
            #expect(try await site.walkAll() == 0)
        }
    }

    @Test("what was known before there were events is told as it stands, once, and from then on by the clock")
    func upgrade() async throws {
        try await EventDatabase.with { site in
            let ledger = site.ledger
            let silent = AccountStore(site.pool)
            let soon = Timestamp(
                try await site.value("select clock_timestamp() + interval '2 s'", as: PostgresTimestamp.self))
            try await site.pool.withTransaction { session in
                let entries =
                    (0..<3).map {
                        Records.period(
                            purchase(1), from: Int64($0 * 30 - 70), to: Int64($0 * 30 - 40), account: token(1),
                            number: $0)
                    } + [
                        Records.span(
                            purchase(2), Records.now.adding(days: -30)..<soon, account: token(2), renews: false)
                    ]
                for entry in entries {
                    _ = try silent.settle(try ledger.apply([entry], session).changes.map(\.key), session)
                }
            }
            try await site.pool.query("update storehook.telling_walks set is_under_way = true where what = 'purchases'")
            _ = try await site.walkAll()
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed"])
            let ending = try await site.told("token = \(UUID(token(2)))")
            #expect(ending.first == "1 subscription.cancelled", "\(ending)")
            #expect(try await site.walkAll() == 0)
            try await eventually("the end is told") {
                _ = try await site.runClock()
                return try await site.told("token = \(UUID(token(2)))").contains {
                    $0.hasSuffix("subscription.expired")
                }
            }
        }
    }

    @Test("an app's history that is fetched for the first time is told as it stands when all of it is there")
    func history() async throws {
        try await EventDatabase.with { site in
            try await site.plan([(100, isAsked: true), (2, isAsked: false)])
            try await site.pool.query(
                "insert into storehook.served_apps (bundle_id, environment) values ('com.example.app', 'Production') on conflict do nothing"
            )
            for number in 0..<3 {
                try await site.apply([
                    Records.period(
                        purchase(1), from: Int64(number * 30 - 70), to: Int64(number * 30 - 40), account: token(1),
                        number: number, from: .history)
                ])
            }
            _ = try await site.walkAll()
            _ = try await site.runClock()
            #expect(try await site.value("select count(*) from storehook.events") == 0 as Int64)
            // What Apple posts meanwhile is told, and the past of it is not.
            try await site.apply([Records.period(purchase(2), from: -1, to: 29, account: token(2), number: 1)])
            try await site.apply([
                Records.period(purchase(2), from: -31, to: -1, account: token(2), number: 0, from: .history)
            ])
            #expect(
                try await site.told("token = \(UUID(token(2)))")
                    == ["1 subscription.renewed", "2 account.access_changed"])
            try await site.answerWindows()
            _ = try await site.walkAll()
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed"])
            #expect(try await site.walkAll() == 0)
        }
    }
}

/// What Apple's history brings, and when it is told.
@Suite("What a first fill owes")
struct OwedTests {
    private func period(_ number: Int, from start: Int64, to end: Int64, renewal: Int = 0) -> LedgerEntry {
        Records.period(
            purchase(number), from: start, to: end, account: token(number), number: renewal, from: .history)
    }

    private func differences(_ site: EventDatabase) async throws -> [String] {
        let events = site.events
        let tokens = try await site.pool.query("select token from storehook.accounts order by 1").map {
            UniqueIdentifier(try $0.decode(0, as: UUID.self))
        }
        let purchases = try await site.pool.query(
            "select environment, bundle_id, original_transaction_id from storehook.purchase_lines order by 3"
        ).map {
            PurchaseKey(
                environment: try $0.decode(0), bundleID: try $0.decode(1), originalTransactionID: try $0.decode(2))
        }
        let found = try await site.pool.withTransaction { session in
            try events.differences(of: purchases, session).map(\.difference)
                + events.differences(of: tokens, session).map(\.difference)
        }
        let counted = try await events.checkAccounts()
        #expect(counted.differing == found.count { $0.table == "access_tellings" && $0.column == "told" })
        return found.map { "\($0.table) \($0.column): \($0.stored ?? "nothing") | \($0.derived ?? "nothing")" }
    }

    @Test(
        "is told once it is over; what a later window brings is told at once, also one in which the workers were started"
    )
    func startingHour() async throws {
        try await EventDatabase.with { site in
            try await site.plan([(100, isAsked: false), (2, isAsked: false)])
            try await site.apply([period(1, from: -20, to: 10)])
            _ = try await site.walkAll()
            #expect(try await site.value("select count(*) from storehook.events") == 0 as Int64)
            try await site.answerWindows()
            _ = try await site.walkAll()
            let first = ["1 subscription.started", "2 account.access_changed"]
            #expect(try await site.told("token = \(UUID(token(1)))") == first)
            // The hour of the start is planned once it is over, and begins before the first plan was made.
            try await site.pool.query(
                """
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at, planned_at)
                select 'Production', 'com.example.app', now() - interval '30 minutes', now() + interval '30 minutes',
                       clock_timestamp() + interval '40 minutes'
                """)
            let soon = Timestamp(
                try await site.value("select clock_timestamp() + interval '2 s'", as: PostgresTimestamp.self))
            let lost = Records.now.adding(days: -30)
            let later = PostgresTimestamp(Records.now.adding(days: 1))
            try await site.apply(
                [
                    Records.span(
                        purchase(2), lost..<soon, account: token(2), renews: false, from: .history),
                    period(3, from: -1, to: 29),
                ].map { LedgerEntry($0, outboxID: $0.outboxID, receivedAt: later) })
            #expect(try await site.told("token = \(UUID(token(3)))") == first)
            #expect(try await site.told("token = \(UUID(token(2)))").count >= 2)
            try await eventually("the end is told") {
                _ = try await site.runClock()
                return try await site.told("token = \(UUID(token(2)))").contains {
                    $0.hasSuffix("subscription.expired")
                }
            }
            #expect(try await differences(site).isEmpty)
        }
    }

    @Test(
        "includes what it had stored when the last window was asked and nobody had applied yet, as it stands in the end"
    )
    func appliedLater() async throws {
        try await EventDatabase.with { site in
            try await site.plan([(100, isAsked: false)])
            try await site.apply([period(1, from: -70, to: -40)])
            try await site.pool.query(
                "insert into storehook.outbox_queue (id, received_at, due_at) values (1, now(), now())")
            try await site.answerWindows()
            _ = try await site.walkAll()
            #expect(try await site.value("select count(*) from storehook.events") == 0 as Int64)
            // It is applied: the queue's row goes with it.
            try await site.pool.query("delete from storehook.outbox_queue")
            try await site.apply([period(1, from: -40, to: -10, renewal: 1)])
            try await site.apply([period(1, from: -10, to: 20, renewal: 2), period(2, from: -10, to: 20)])
            _ = try await site.walkAll()
            for number in 1...2 {
                #expect(
                    try await site.told("token = \(UUID(token(number)))")
                        == ["1 subscription.started", "2 account.access_changed"])
            }
            #expect(try await !site.events.isOwed())
            #expect(try await differences(site).isEmpty)
        }
    }

    @Test("includes accounts that have bought only once, and their ends")
    func boughtOnce() async throws {
        try await EventDatabase.with { site in
            try await site.plan([(100, isAsked: false)])
            try await site.apply([Records.bought(purchase(1), account: token(1), from: .history)])
            #expect(try await site.told("token = \(UUID(token(1)))") == ["1 purchase.completed"])
            #expect(try await site.events.isOwed())
            try await site.answerWindows()
            _ = try await site.walkAll()
            #expect(
                try await site.told("token = \(UUID(token(1)))") == [
                    "1 purchase.completed", "2 account.access_changed",
                ])
            #expect(try await !site.events.isOwed())
        }
    }

    @Test("of one app waits for no other's, and what is owed to an unfinished one is no difference")
    func twoApps() async throws {
        try await EventDatabase.with { site in
            try await site.plan([(100, isAsked: false)])
            try await site.plan([(100, isAsked: false)], of: "com.example.other")
            try await site.apply([period(1, from: -10, to: 20)])
            try await site.pool.query(
                """
                update storehook.history_windows set askings = 1, asked_at = now(), first_asked_at = now()
                 where bundle_id = 'com.example.other'
                """)
            _ = try await site.walkAll()
            #expect(try await site.events.isOwed())
            #expect(try await differences(site).isEmpty)
            try await site.answerWindows()
            _ = try await site.walkAll()
            #expect(try await site.told("token = \(UUID(token(1)))").count == 2)
        }
    }

    @Test("and was left untold by an earlier release is told by the walk, or owed where the fill goes on")
    func leftUntold() async throws {
        try await EventDatabase.with { site in
            try await site.apply([period(1, from: -10, to: 20)])
            _ = try await site.walkAll()
            try await site.pool.query("delete from storehook.events")
            try await site.pool.query("delete from storehook.purchase_tellings")
            try await site.pool.query("delete from storehook.access_tellings")
            let found = try await differences(site)
            #expect(found.count == 2 && found.last == "access_tellings told: nothing | active pro", "\(found)")
            try await site.pool.query(
                "insert into storehook.served_apps (bundle_id, environment) values ('com.example.app', 'Production') on conflict do nothing"
            )
            try await site.plan([(100, isAsked: false)])
            try await site.pool.query("update storehook.telling_walks set is_under_way = true where what = 'purchases'")
            _ = try await site.walkAll()
            #expect(try await site.value("select count(*) from storehook.events") == 0 as Int64)
            #expect(try await site.events.isOwed())
            try await site.answerWindows()
            _ = try await site.walkAll()
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed"])
            #expect(try await differences(site).isEmpty)
        }
    }
}

extension EventDatabase {
    /// Goes through everybody, and settles what is owed; answers in how many portions.
    func walkAll() async throws -> Int {
        var portions = 0
        while true {
            var all = EventStore.ClockResult()
            for due in EventStore.Due.allCases { all = all + (try await events.settleOwed(due, accounts)) }
            for due in EventStore.Due.allCases { all = all + (try await events.walk(due, accounts)) }
            guard all.taken > 0 else { return portions }
            portions += 1
        }
    }

    /// Plans windows of Apple's history at once: days that begin so many days ago.
    func plan(_ windows: [(Int32, isAsked: Bool)], of app: String = "com.example.app") async throws {
        try await pool.query(
            """
            insert into storehook.history_windows
                   (environment, bundle_id, starts_at, ends_at, askings, first_asked_at, asked_at)
            select 'Production', \(app), now() - make_interval(days => days), now() - make_interval(days => days - 1),
                   case when is_asked then 1 else 0 end, case when is_asked then now() end, case when is_asked then now() end
              from unnest(\(windows.map(\.0)), \(windows.map(\.isAsked))) as w (days, is_asked)
            """)
    }

    /// Apple has answered what was planned.
    func answerWindows() async throws {
        try await pool.query(
            """
            update storehook.history_windows set askings = 1, asked_at = now(), first_asked_at = now()
             where first_asked_at is null
            """)
    }
}
