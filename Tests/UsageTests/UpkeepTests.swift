import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The upkeep of usage")
struct UpkeepTests {
    private let daily = CountedFeature(id: "ai_explain", period: .day, limit: nil)
    private let stock = CountedFeature(id: "vocabulary", period: .total, limit: 50)

    @Test("throws away days that nobody can report any more and keys whose time is over, in portions, and nothing else")
    func old() async throws {
        try await withUsage { bench in
            _ = try await bench.count(.add(1), of: daily, key: "a")
            _ = try await bench.count(.add(1), of: stock, key: "a")
            _ = try await bench.count(.add(1), of: daily, usedAt: bench.now().adding(days: -34))
            #expect(try await bench.usage.dropOld() == UsageUpkeep())
            // More than two portions of each.
            try await bench.pool.withTransaction { session in
                try session.executeScript(
                    """
                    insert into storehook.usage_counters (token, feature, period, starts_on, resets_at, used)
                    select gen_random_uuid(), 'a', 'day', current_date - 60, now() - interval '890 hours', 1
                      from generate_series(1, 11000);
                    insert into storehook.usage_keys (token, feature, key, act, amount, used, period, starts_on, resets_at, kept_until)
                    select gen_random_uuid(), 'a', gen_random_uuid(), 'add', 1, 1, 'day', current_date - 60, now(),
                           now() - interval '1 second'
                      from generate_series(1, 11000);
                    insert into storehook.usage_counters (token, feature, period, starts_on, resets_at, used)
                    values (gen_random_uuid(), 'b', 'day', current_date - 60, now() - interval '880 hours', 1);
                    """)
            }
            async let here = bench.usage.dropOld()
            async let there = bench.usage.dropOld()
            let both = try await [here, there]
            #expect(both.reduce(0) { $0 + $1.counters } == 11_000)
            #expect(both.reduce(0) { $0 + $1.keys } == 11_000)
            #expect(try await bench.rows() == [4, 2])
            #expect(try await bench.usage.dropOld() == UsageUpkeep())
        }
    }

    @Test("forgets an account that is erased, and no other")
    func erased() async throws {
        try await withUsage { bench in
            for token in [bench.token, bench.other] {
                _ = try await bench.count(.add(1), of: daily, key: "a", for: token)
                _ = try await bench.count(.add(1), of: stock, for: token)
            }
            let token = bench.token
            try await bench.pool.withTransaction { try Usage.erase(token, $0) }
            #expect(try await bench.rows() == [2, 1])
            #expect(try await bench.used(stock) == 0)
            #expect(try await bench.count(.add(1), of: daily, key: "a").words == "counted 1 of -")
        }
    }

    @Test("leaves reads and counts their index, however many rows there are")
    func plans() async throws {
        try await withUsage { bench in
            try await bench.pool.withTransaction { session in
                try session.executeScript(
                    """
                    insert into storehook.usage_counters (token, feature, period, starts_on, resets_at, used)
                    select gen_random_uuid(), 'f' || n % 10, 'day', current_date, now(), 1
                      from generate_series(1, 50000) n;
                    insert into storehook.usage_keys (token, feature, key, act, amount, used, period, starts_on, resets_at, kept_until)
                    select gen_random_uuid(), 'a', gen_random_uuid(), 'add', 1, 1, 'day', current_date, now(), now() + interval '1 day'
                      from generate_series(1, 50000);
                    analyze storehook.usage_counters, storehook.usage_keys;
                    select pg_stat_reset();
                    """)
            }
            for key in [nil, "a", "a"] as [String?] { _ = try await bench.count(.add(1), of: daily, key: key) }
            #expect(try await bench.used(daily) == 2)
            let today = UsageWindow(.day, at: try await bench.now(), in: UsageBench.shanghai)
            let counters = (0..<64).map { number in
                let stranger = UniqueIdentifier(high: 7, low: UInt64(number))
                return UsageCounter(of: number == 40 ? bench.token : stranger, daily.id, in: today)
            }
            #expect(try await bench.usage.used(counters) == (0..<64).map { $0 == 40 ? 2 : 0 })
            _ = try await bench.usage.dropOld()
            let plan = try await bench.pool.query(
                """
                explain (costs off)
                select coalesce(c.used, 0)
                  from unnest(array['a', 'b'], array['day', 'day'], array['2026-03-01', '2026-03-01']::date[])
                       with ordinality as w (feature, period, starts_on, place)
                  left join storehook.usage_counters c
                       on c.token = '6f1c1c0a-0000-4000-8000-000000000001' and c.feature = w.feature
                      and c.period = w.period and c.starts_on = w.starts_on
                 order by w.place
                """
            ).map { try $0.decode(0, as: String.self) }.joined(separator: "\n")
            #expect(plan.contains("usage_counters_pkey") && !plan.contains("Seq Scan on usage_counters"), "\(plan)")
            // Counters of what a backend has scanned are told when it is done with its work or goes.
            await bench.pool.close()
            let observer = try await PostgresConnection.connect(to: bench.database.configuration, logger: quiet)
            let scans = try await observer.query(
                """
                select relname || ' ' || seq_scan from pg_stat_user_tables
                 where schemaname = 'storehook' and relname like 'usage%' and seq_scan > 0
                """
            ).map { try $0.decode(0, as: String.self) }
            await observer.close()
            #expect(scans.isEmpty, "\(scans)")
        }
    }
}
