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
            func window(_ days: Int32, isAsked: Bool) async throws {
                try await site.pool.query(
                    """
                    insert into storehook.history_windows
                           (environment, bundle_id, starts_at, ends_at, askings, first_asked_at, asked_at)
                    values ('Production', 'com.example.app', now() - make_interval(days => \(days)),
                            now() - make_interval(days => \(days) - 1), \(isAsked ? 1 as Int16 : 0),
                            \(isAsked ? PostgresTimestamp(millisecondsSince1970: Records.now.millisecondsSince1970) : nil),
                            \(isAsked ? PostgresTimestamp(millisecondsSince1970: Records.now.millisecondsSince1970) : nil))
                    """)
            }
            try await window(100, isAsked: true)
            try await window(2, isAsked: false)
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
            try await site.pool.query(
                "update storehook.history_windows set askings = 1, asked_at = now(), first_asked_at = now()")
            _ = try await site.walkAll()
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.started", "2 account.access_changed"])
            #expect(try await site.walkAll() == 0)
        }
    }
}

extension EventDatabase {
    /// Goes through everybody; answers in how many portions.
    func walkAll() async throws -> Int {
        var portions = 0
        while true {
            let purchases = try await events.walk(.purchases, accounts)
            let both = purchases + (try await events.walk(.accounts, accounts))
            guard both.taken > 0 else { return portions }
            portions += 1
        }
    }
}
