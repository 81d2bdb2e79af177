import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// How many accounts there were at the end of days, and what they had used by then.
struct AccountDayTests {
    /// Counts as the clock does, with no rest before.
    private func count(_ database: AccountDatabase, times: Int = 1) async throws {
        for _ in 0..<times {
            try await database.pool.query("update storehook.account_count_state set due_at = '-infinity'")
            #expect(try await database.store.count())
        }
    }

    /// An account that was known so many days ago.
    private func know(_ number: Int, days: Int64, _ database: AccountDatabase) async throws {
        try await database.pool.query(
            """
            insert into storehook.accounts (token, account, known_at)
            values (\(UUID(token(number))), \(name(number)), now() - \(days) * interval '24 hours')
                on conflict (token) do update set known_at = excluded.known_at
            """)
    }

    private func kept(_ database: AccountDatabase) async throws -> [AccountDay] {
        let days = try await database.pool.query("select day::text from storehook.account_days order by day")
            .compactMap { CalendarDay(try $0.decode(0, as: String.self)) }
        return try await database.store.days(days, in: "Production")
    }

    private func words(_ counts: AccountCounts) -> [String] {
        counts.groups.map { "\($0.standing) \($0.tier) \($0.status.rawValue) \($0.count)" }
            + (counts.anonymous == 0 ? [] : ["anonymous \(counts.anonymous)"])
    }

    /// What SQL says of all accounts at an instant, by tier and status.
    private func stood(_ instant: Timestamp, _ database: AccountDatabase) async throws -> [String: Int64] {
        let at = PostgresTimestamp(instant)
        return try await database.pool.query(
            """
            select k.kind, count(*)
              from (
                select s.tier || ' ' || s.status as kind
                  from storehook.account_status_at(\(at)) s left join storehook.accounts a using (token)
                 where s.environment = 'Production' and (s.status <> 'free' or a.token is null or a.known_at <= \(at))
                union all
                select 'free free' from storehook.accounts a
                 where a.erased_at is null and a.known_at <= \(at)
                   and not exists (select from storehook.account_status s where s.token = a.token)) k
             group by 1
            """
        ).reduce(into: [:]) { $0[try $1.decode(0, as: String.self)] = try $1.decode(1, as: Int64.self) }
    }

    @Test
    func `Each count of accounts counts a day that has ended, the latest first, by what accounts were at its end`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                // One pays, one does no more, one is on trial, and one pays since today.
                Purchases.period(purchase(2), "basic", from: -5, to: 25, account: token(2)),
                Purchases.period(purchase(3), "basic", from: -60, to: -30, account: token(3)),
                Purchases.period(purchase(4), "basic", from: -5, to: 2, account: token(4), isTrial: true),
                Purchases.period(purchase(5), "plus", from: 0, to: 30, account: token(5)),
                Purchases.forever(purchase(6), at: -5, account: nil),
            ])
            // Known for three days, and since now.
            try await know(1, days: 3, database)
            try await know(7, days: 0, database)
            try await know(3, days: 5, database)
            try await count(database)
            let today = try #require(
                CalendarDay(try await database.value("select (now() at time zone 'UTC')::date::text", as: String.self)))
            let first = try await kept(database)
            #expect(first.map(\.day.number) == [today.number - 1])
            let yesterday = try #require(first.first)
            #expect(yesterday.endsAt == Timestamp(secondsSince1970: today.number * 86_400))
            #expect(
                words(yesterday.counts) == [
                    "access pro trial 1", "expired free expired 1", "free free free 1", "subscriber pro active 1",
                    "anonymous 1",
                ])
            try await count(database, times: 6)
            let later = try await kept(database)
            #expect(later.map { today.number - $0.day.number } == [5, 4, 3, 2, 1])
            #expect(
                words(later[0].counts).contains("free free free 1") == false
                    && words(later[0].counts).contains("expired free expired 1"), "before it was known")
            #expect(later[4] == yesterday, "what was counted stays")
        }
    }

    @Test func `A day that cannot be counted leaves the count of now as it is`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await know(1, days: 3, database)
            try await database.pool.withTransaction {
                try $0.executeScript(
                    """
                    create function storehook.refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end';
                    create trigger refuse before insert on storehook.account_days for each row execute function storehook.refuse();
                    """)
            }
            await #expect(throws: PostgresError.self) { try await database.store.count() }
            #expect(try await database.store.counts(in: "Production").groups.map(\.count) == [1])
            #expect(try await !database.store.count(), "it rests")
        }
    }

    @Test
    func `Days are counted as SQL says of their end, by the catalog of that time, and accounts erased later stay`()
        async throws
    {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            for batch in Purchases.many(80, accounts: 40, &generator).batches(of: 100) {
                try await database.apply(batch)
            }
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for number in 0..<45 {
                try await know(number, days: Int64.random(in: 0...12, using: &generator), database)
            }
            try await know(0, days: 12, database)
            func check(_ days: some Collection<AccountDay>) async throws {
                for day in days {
                    var counted: [String: Int64] = [:]
                    for group in day.counts.groups {
                        counted["\(group.tier) \(group.status.rawValue)", default: 0] += group.count
                        #expect(
                            group.status.access == [.subscriber, .access].contains(group.standing),
                            "seed \(generator.seed)")
                    }
                    #expect(try await stood(day.endsAt, database) == counted, "\(day.day), seed \(generator.seed)")
                }
            }
            try await count(database, times: 4)
            let early = try await kept(database)
            #expect(early.count == 4)
            try await check(early)
            // All that was before stands in the history now.
            _ = try await database.store.apply(Shop.catalog(["premium", "premium", "premium"]), by: "test")
            try await count(database, times: 4)
            let all = try await kept(database)
            #expect(all.count == 8 && Array(all.suffix(4)) == early)
            try await check(all)
            for number in 0..<5 { _ = try await database.pipeline.erase(account(number), by: "b") }
            try await count(database)
            #expect(try await kept(database).suffix(8) == all[...])
        }
    }

    @Test
    func `No day is counted before anything is known, none twice, and each by the time zone that counted then`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await count(database, times: 2)
            #expect(try await kept(database).isEmpty)
            try await know(1, days: 2, database)
            try await count(database, times: 5)
            #expect(
                try await kept(database).map { words($0.counts) } == [["free free free 1"], ["free free free 1"]])
            _ = try await database.store.apply("time_zone: Pacific/Kiritimati\n" + Shop.catalog(), by: "test")
            try await count(database, times: 5)
            // There it may be a day later, and that day begins 14 hours before it does in UTC.
            let zones = try await database.pool.query(
                "select zone || ' ' || extract(hour from ends_at at time zone 'UTC') from storehook.account_days order by day"
            ).map { try $0.decode(0, as: String.self) }
            #expect(Array(zones.prefix(2)) == ["GMT 0", "GMT 0"])
            #expect(zones.dropFirst(2).allSatisfy { $0 == "Pacific/Kiritimati 10" } && zones.count <= 3, "\(zones)")
        }
    }

    // MARK: Usage

    private let daily = CountedFeature(id: "ai", period: .day, limit: nil)
    private let monthly = CountedFeature(id: "voice", period: .month, limit: nil)
    private let stock = CountedFeature(id: "words", period: .total, limit: nil)

    private func usage(
        _ database: AccountDatabase, byMonth: Bool = false
    ) async throws -> (lines: [String], counted: Int) {
        let first = try #require(CalendarDay("2000-01-01"))
        let last = try #require(CalendarDay("2999-12-31"))
        let found = try await Usage(database.pool).days(first...last, byMonth: byMonth, atMost: 1000)
        return (
            found.usage.map {
                "\($0.feature) \($0.countedBy.rawValue) \($0.tier) \($0.accounts.map(String.init) ?? "-") \($0.used)"
                    + ($0.isComplete ? " complete" : "")
            }, found.counted.count
        )
    }

    @Test
    func `What was used on a day is counted with it, by the tier at its end, and what month and stock have by then`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: 0, to: 30, account: token(2)),
            ])
            for number in 1...3 { try await know(number, days: 1, database) }
            let usage = Usage(database.pool)
            let yesterday = Timestamp(
                try await database.value("select now() - interval '24 hours'", as: PostgresTimestamp.self))
            for (number, amount) in [(1, 2), (1, 3), (2, 7), (3, 11)] as [(Int, Int64)] {
                _ = try await usage.count(
                    UsageReport(.add(amount), usedAt: yesterday), of: daily, for: token(number), in: .gmt)
                // Of today, which has not ended.
                _ = try await usage.count(UsageReport(.add(100)), of: daily, for: token(number), in: .gmt)
            }
            for feature in [monthly, stock] {
                _ = try await usage.count(
                    UsageReport(.add(5), usedAt: yesterday), of: feature, for: token(1), in: .gmt)
            }
            try await count(database)
            let isSoon = try await database.value(
                "select counted_at < ends_at + interval '1 hour' from storehook.account_days", as: Bool.self)
            let isLast = try await database.value(
                "select extract(day from day + 1) = 1 from storehook.account_days", as: Bool.self)
            var expected = ["ai day free 2 18", "ai day pro 1 5"]
            if isSoon || isLast { expected.append("voice month pro 1 5") }
            if isSoon { expected.append("words total pro 1 5 complete") }
            #expect(try await self.usage(database).lines == expected)
        }
    }

    @Test
    func `A day is counted again once nothing more is reported of it, and is complete then`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await know(1, days: 36, database)
            try await database.pool.withTransaction {
                try $0.executeScript(
                    """
                    create temporary table ending on commit drop as
                    select d.day, (d.day + 1)::timestamp at time zone 'UTC' as ends_at
                      from (select (now() at time zone 'UTC')::date - n as day from generate_series(34, 36) n) d;
                    insert into storehook.account_days (day, zone, ends_at, counted_at, usage_counted_at)
                    select day, 'UTC', ends_at, ends_at, ends_at from ending;
                    insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used)
                    select day, 'ai', 'day', 'free', true, 1, 1 from ending;
                    insert into storehook.usage_counters (token, feature, period, starts_on, resets_at, used)
                    select a.token, 'ai', 'day', day, ends_at, 4 from ending cross join storehook.accounts a;
                    """)
            }
            let before = ["ai day free 1 1", "ai day free 1 1", "ai day free 1 1"]
            #expect(try await usage(database).lines == before)
            try await count(database)
            #expect(
                try await usage(database).lines == ["ai day free 1 4 complete", "ai day free 1 1", "ai day free 1 1"])
            #expect(try await usage(database, byMonth: true).lines.allSatisfy { !$0.contains("complete") })
            try await count(database)
            #expect(
                try await usage(database).lines == ["ai day free 1 4 complete", "ai day free 1 1", "ai day free 1 1"])
        }
    }

    @Test
    func `A month adds its days, and has of months and of stocks what the latest day had that was counted in time`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await database.pool.withTransaction {
                try $0.executeScript(
                    """
                    insert into storehook.account_days (day, zone, ends_at, counted_at, usage_counted_at)
                    select d::date, 'UTC', (d::date + 1)::timestamp at time zone 'UTC',
                           (d::date + 1)::timestamp at time zone 'UTC'
                           + case when d::date in ('2026-02-27', '2026-03-30') then interval '2 hours' else interval '1 minute' end,
                           (d::date + 36)::timestamp at time zone 'UTC'
                      from generate_series('2026-02-01'::timestamp, '2026-03-30', interval '1 day') d;
                    insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used)
                    select day, 'ai', 'day', 'pro', true, 2, 3 from storehook.account_days
                    union all
                    select day, 'voice', 'month', 'pro', day = '2026-02-28', 1, extract(day from day)::bigint
                      from storehook.account_days where day not in ('2026-02-27', '2026-03-30')
                    union all
                    select day, 'words', 'total', 'pro', false, 1, 10 from storehook.account_days where day = '2026-03-28';
                    """)
            }
            // On the 29th no stock was used, and the 30th was counted too late.
            #expect(
                try await usage(database, byMonth: true).lines == [
                    "ai day pro - 84 complete", "voice month pro 1 28 complete", "ai day pro - 90",
                    "voice month pro 1 29",
                ])
            let days = try await usage(database)
            #expect(days.counted == 58 && days.lines.count { $0 == "ai day pro 2 3 complete" } == 58)
            #expect(days.lines.contains("words total pro 1 10 complete"))
        }
    }
}
