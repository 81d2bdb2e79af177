import AccountStore
import Accounts
import AppStorePayloads
import Base
import Postgres
import Subscriptions
import TestSupport
import Testing

/// Whose access ends soon, for the desk.
struct ExpiringTests {
    @Test
    func `Who loses access within so many days with nothing to renew it is listed, the next first, and nobody else`()
        async throws
    {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            await #expect(throws: ActRefusal.noCatalog) {
                try await database.store.expiring(in: "Production", limit: 10)
            }
            for batch in Purchases.many(150, accounts: 80, &generator).batches(of: 100) {
                try await database.apply(batch)
            }
            for number in 200..<230 {
                try await database.apply([
                    Purchases.period(
                        purchase(number), "basic", from: -20, to: Int64.random(in: -3...12, using: &generator),
                        account: token(number))
                ])
            }
            _ = try await database.store.apply(Shop.catalog() + "warning_days: 5\n", by: "test")
            // Some are going to be renewed. One of these is in its grace period, and its renewal may fail all the same.
            try await database.pool.query(
                """
                update storehook.account_status set phase_will_renew = array_fill(true, array[cardinality(phase_starts)])
                 where get_byte(uuid_send(token), 0) < 64
                """)
            try await database.pool.query(
                """
                update storehook.account_status s
                   set phase_starts[cardinality(phase_starts)] = date_trunc('milliseconds', now() + interval '2 days'),
                       phase_expires[cardinality(phase_starts) - 1] = date_trunc('milliseconds', now() + interval '2 days'),
                       phase_status[cardinality(phase_starts) - 1] = 'grace_period',
                       phase_will_renew = array_fill(true, array[cardinality(phase_starts)])
                 where (token, environment) in (
                        select token, environment from storehook.account_status
                         where phase_status[cardinality(phase_starts) - 1] in ('active', 'cancelled')
                           and phase_starts[cardinality(phase_starts) - 1] < now()
                           and phase_starts[cardinality(phase_starts)] > now()
                           and phase_status[cardinality(phase_starts)] = 'expired'
                         order by token limit 1)
                """)
            // Each account is read by itself below, and until autovacuum has come by, the planner takes the tables for empty.
            try await database.pool.query("analyze", deadline: .seconds(60))
            for days in [nil, 0, 1, 7, 30] {
                let found = try await database.store.expiring(within: days, in: "Production", limit: 1000)
                #expect(found.days == days ?? 5)
                var expected: [String] = []
                for number in 0..<230 {
                    let view = try await database.store.view(token(number), in: "Production")
                    guard view.current.access, !view.current.goesOn, let end = view.accessUntil,
                        end <= view.instant.adding(days: Int64(found.days))
                    else { continue }
                    expected.append("\(token(number)) \(view.current.tier) \(view.current.status.rawValue) \(end)")
                }
                let told = found.accounts.elements.map { "\($0.token) \($0.tier) \($0.status) \($0.accessUntil)" }
                #expect(told.sorted() == expected.sorted(), "\(found.days) days, seed \(generator.seed)")
                let ends = found.accounts.elements.map(\.accessUntil)
                #expect(ends == ends.sorted() && found.accounts.next == nil)
                #expect(found.accounts.elements.allSatisfy { (1...max(1, found.days)).contains($0.daysLeft) })
                if found.days >= 7 { #expect(!told.isEmpty, "seed \(generator.seed)") }
            }
            let all = try await database.store.expiring(within: 30, in: "Production", limit: 1000).accounts.elements
            var (paged, cursor): ([ExpiringAccount], ListCursor?) = ([], nil)
            repeat {
                let page = try await database.store.expiring(within: 30, in: "Production", after: cursor, limit: 3)
                #expect(page.accounts.elements.count == 3 || page.accounts.next == nil)
                paged += page.accounts.elements
                cursor = page.accounts.next
            } while cursor != nil
            #expect(paged.map(\.token) == all.map(\.token), "seed \(generator.seed)")
            for (app, count) in [(Shop.app, all.count), ("com.example.none", 0)] {
                let of = try await database.store.expiring(within: 30, in: "Production", of: [app], limit: 1000)
                #expect(of.accounts.elements.count == count, "\(app)")
            }
            #expect(try await database.store.expiring(within: 30, in: "Sandbox", limit: 9).accounts.elements.isEmpty)
            // In pages that look through four. Where nothing fits, a page of one is asked for.
            for (environment, limit) in [("Production", 3), ("Sandbox", 1)] {
                var (bounded, looked): ([ExpiringAccount], [Int?]) = ([], [])
                repeat {
                    let page = try await database.store.expiring(
                        within: 30, in: environment, after: cursor, limit: limit, lookingThrough: 4
                    ).accounts
                    bounded += page.elements
                    looked.append(page.lookedThrough)
                    cursor = page.next
                } while cursor != nil
                let expected = environment == "Production" ? all : []
                #expect(bounded.map(\.token) == expected.map(\.token), "seed \(generator.seed)")
                if environment == "Sandbox" {
                    #expect(looked.count == all.count / 4 + 1 && looked.dropLast().allSatisfy { $0 == 4 })
                }
                #expect(looked.last == .some(nil))
            }
        }
    }

    @Test func `It is read out of an index, whatever the number of accounts`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.query(
                """
                insert into storehook.account_status
                       (token, environment, catalog, version, phase_starts, phase_status, phase_tier, phase_source, phase_product,
                        phase_bundle, phase_purchase, phase_act, phase_expires, phase_will_renew, phase_trial)
                select md5(n::text)::uuid, 'Production', c.current_version, 1,
                       array['-infinity', now() - interval '20 days', now() + n % 1000 * interval '1 day' + interval '1 hour'],
                       array['free', 'cancelled', 'expired'], array['free', 'pro', 'free'],
                       array['none', 'apple', 'apple'], array[null, 'basic', 'basic'], array[null, 'app', 'app'],
                       array[null, n::text, n::text], array[null, null, null]::bigint[],
                       array[null, now(), now()]::timestamptz[], array[false, false, false], array[false, false, false]
                  from generate_series(1, 20000) n cross join storehook.catalog_state c
                """, deadline: .seconds(60))
            try await database.pool.query("analyze storehook.account_status", deadline: .seconds(60))
            // A page begins where the one before ended.
            for rest in ["", "and access_until >= now() + interval '3 days' order by access_until, token"] {
                let plan = try await database.pool.query(
                    """
                    explain select * from storehook.expiring_soon('7 days')
                     where environment = 'Production' \(unescaped: rest) limit 100
                    """
                ).map { try $0.decode(0, as: String.self) }.joined(separator: "\n")
                #expect(
                    plan.contains("account_status_by_end") && !plan.contains("Seq Scan on account_status"), "\(plan)")
                #expect(rest.isEmpty || plan.contains(/Index Cond: .*3 days/), "\(plan)")
            }
            let found = try await database.store.expiring(within: 7, in: "Production", limit: 1000)
            #expect(found.accounts.elements.count == 140)
        }
    }
}
