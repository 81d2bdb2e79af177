import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// How many accounts there are, by what they are.
struct AccountCountTests {
    private func groups(_ counts: AccountCounts) -> [String: Int64] {
        counts.groups.reduce(into: [:]) { found, group in
            found["\(group.standing) \(group.tier) \(group.status.rawValue)", default: 0] += group.count
        }
    }

    private func sandbox(_ number: Int) -> PurchaseKey {
        PurchaseKey(environment: "Sandbox", bundleID: Shop.app, originalTransactionID: "\(20_000 + number)")
    }

    private func know(_ number: Int, _ database: AccountDatabase) async throws {
        try await database.pool.query(
            "insert into storehook.accounts (token, account) values (\(UUID(token(number))), \(name(number)))")
    }

    /// As if the rest after the last count were over.
    private func rest(_ database: AccountDatabase) async throws {
        try await database.pool.query("update storehook.account_count_state set due_at = '-infinity'")
    }

    /// Subscriptions of accounts, each with what Apple says of its renewal.
    private static func subscriptions() -> [LedgerEntry] {
        func basic(
            _ number: Int, from start: Int64, to end: Int64, revoked: Int64? = nil, isTrial: Bool = false,
            _ renewal: ((inout RenewalInfoPayload) -> Void)? = nil
        ) -> LedgerEntry {
            let key = purchase(number)
            var said = Purchases.renewal(key, "basic", to: "basic", signed: -1, account: nil)
            renewal?(&said)
            return Purchases.period(
                key, "basic", from: start, to: end, account: token(number), revoked: revoked,
                renewal: renewal == nil ? nil : said, isTrial: isTrial)
        }
        return [
            basic(2, from: -3, to: 4, isTrial: true), basic(4, from: -5, to: 25),
            basic(5, from: -5, to: 25) { $0.autoRenewStatus = .off },
            basic(6, from: -32, to: -2) {
                ($0.isInBillingRetryPeriod, $0.gracePeriodExpiresDate) = (true, Purchases.now.adding(days: 14))
            },
            basic(7, from: -32, to: -2) { $0.isInBillingRetryPeriod = true }, basic(8, from: -60, to: -30),
            basic(9, from: -20, to: -13, isTrial: true), basic(10, from: -20, to: 10, revoked: -3),
            basic(13, from: -5, to: 25), basic(14, from: -3, to: 4, isTrial: true),
            basic(16, from: -3, to: 4, isTrial: true) { $0.autoRenewStatus = .off }, basic(17, from: -5, to: 25),
        ]
    }

    private func fill(_ database: AccountDatabase) async throws {
        _ = try await database.store.apply(Shop.catalog(), by: "test")
        try await database.apply(Self.subscriptions())
        try await database.apply([
            Purchases.forever(purchase(15), at: -5, account: token(15)),
            Purchases.period(sandbox(8), "basic", from: -5, to: 25, account: token(8)),
            Purchases.period(sandbox(19), "basic", from: -5, to: 25, account: token(19)),
            // Without an account: a subscription, an ended one, something bought for good, and a consumable, which does not count.
            Purchases.period(purchase(30), "basic", from: -5, to: 25, account: nil),
            Purchases.period(purchase(31), "basic", from: -60, to: -30, account: nil),
            Purchases.forever(purchase(32), at: -5, account: nil),
            Purchases.signedOnce(purchase(33), "coins", .consumable, at: -5, account: nil),
            Purchases.period(sandbox(34), "basic", from: -5, to: 25, account: nil),
        ])
        let pipeline = database.pipeline
        for number in [1, 18, 21] { try await know(number, database) }
        _ = try await pipeline.startTrial(of: account(3))
        for (number, tier) in [(11, "pro"), (12, "pro"), (13, "premium"), (14, "premium")] {
            _ = try await pipeline.act(.grant(tier: tier, days: 9), for: account(number), by: "b", why: "w")
        }
        _ = try await pipeline.act(.revoke, for: account(12), by: "b", why: "w")
        for number in [17, 18, 21] { _ = try await pipeline.erase(account(number), by: "b") }
        // One comes back.
        _ = try await pipeline.act(.grant(tier: "pro", days: 9), for: account(21), by: "b", why: "w")
        try await database.pool.query(
            "insert into storehook.account_names (token, account) values (\(UUID(token(20))), \(name(20)))")
    }

    @Test
    func `Each account counts once in each environment, by what it is, and purchases without an account apart`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await fill(database)
            #expect(try await database.store.count())
            let counts = try await database.store.counts(in: "Production")
            #expect(
                groups(counts) == [
                    // 1. One that was only handed its token is none.
                    "free free free": 1,
                    // 12: what staff gave and took.
                    "free free revoked": 1,
                    // 2 and 3, the app's own.
                    "access pro trial": 1, "access premium trial": 1,
                    // 4, 5, 6 and 13, which has a higher tier by a grant.
                    "subscriber pro active": 1, "subscriber pro cancelled": 1, "subscriber pro grace_period": 1,
                    "subscriber premium active": 1,
                    // 11, 15 and, erased before, 21.
                    "access pro active": 3,
                    // 14 has a subscription that is a trial; the trial of 16 does not renew.
                    "access premium active": 1, "access pro cancelled": 1,
                    // 7 in billing retry, 8, 9 and 10.
                    "expired free expired": 2, "expired free trial_expired": 1, "expired free revoked": 1,
                ])
            // 30, 31, 32, and the purchase of 17, which was erased.
            #expect(counts.anonymous == 4)
            let others = try await database.store.counts(in: "Sandbox")
            #expect(groups(others) == ["subscriber pro active": 2] && others.anonymous == 1)
            let now = Timestamp(try await database.value("select clock_timestamp()", as: PostgresTimestamp.self))
            let countedAt = try #require(counts.countedAt)
            #expect(countedAt == others.countedAt && countedAt <= now && now < countedAt.adding(seconds: 60))
        }
    }

    @Test
    func `Tiers and statuses are those of all accounts that SQL and the desk list, erased ones left out`()
        async throws
    {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            for batch in Purchases.many(120, accounts: 50, &generator).batches(of: 100) {
                try await database.apply(batch)
            }
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for number in 50..<60 { try await know(number, database) }
            for number in [3, 7, 50] { _ = try await database.pipeline.erase(account(number), by: "b") }
            #expect(try await database.store.count())
            let groups = try await database.store.counts(in: "Production").groups
            var counted: [String: Int64] = [:]
            for group in groups { counted["\(group.tier) \(group.status.rawValue)", default: 0] += group.count }
            // Of nine accounts nothing is known but the name.
            var expected: [String: Int64] = ["free free": 9]
            for row in try await database.pool.query(
                """
                select tier || ' ' || status, count(*) from storehook.account_status_now
                 where environment = 'Production' group by 1
                """)
            {
                expected[try row.decode(0, as: String.self), default: 0] += try row.decode(1, as: Int64.self)
            }
            #expect(counted == expected, "seed \(generator.seed)")
            #expect(
                groups.allSatisfy { $0.status.access == [.subscriber, .access].contains($0.standing) },
                "seed \(generator.seed)")
            let all = try await database.store.list(limit: 1000).elements.filter { $0.environment == "Production" }
            let total = groups.reduce(0) { $0 + Int($1.count) }
            #expect(all.count { $0.erasedAt == nil } == total, "seed \(generator.seed)")
        }
    }

    @Test
    func `Nothing is counted before the first catalog, then at once, and again after a rest with what changed`()
        async throws
    {
        try await AccountDatabase.with { database in
            let store = database.store
            try await know(1, database)
            #expect(try await !store.count())
            #expect(try await store.counts(in: "Production") == AccountCounts())
            _ = try await store.apply(Shop.catalog(), by: "test")
            #expect(try await store.count())
            #expect(groups(try await store.counts(in: "Production")) == ["free free free": 1])
            try await database.apply([Purchases.period(purchase(1), "plus", from: -5, to: 25, account: token(1))])
            #expect(try await !store.count(), "it rests")
            #expect(
                try await database.value(
                    "select due_at >= counted_at + interval '1 minute' from storehook.account_count_state"))
            #expect(groups(try await store.counts(in: "Production")) == ["free free free": 1])
            try await rest(database)
            #expect(try await store.count())
            #expect(groups(try await store.counts(in: "Production")) == ["subscriber premium active": 1])
            // The clock was set back.
            try await database.pool.query(
                "update storehook.account_count_state set counted_at = now() + interval '1 day', due_at = now() + interval '1 day'"
            )
            #expect(try await store.count())
        }
    }

    @Test func `It rests nine times as long as it took`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.withTransaction {
                try $0.executeScript(
                    """
                    create function storehook.slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return null; end';
                    create trigger slow before insert on storehook.account_counts for each statement execute function storehook.slow();
                    """)
            }
            #expect(try await database.store.count(restingAtLeast: .zero))
            #expect(
                try await database.value(
                    "select due_at >= counted_at + interval '3 seconds' from storehook.account_count_state"))
        }
    }

    @Test func `Of workers that come at the same time one counts, and the others do nothing`() async throws {
        try await AccountDatabase.with { database in
            try await fill(database)
            let held = try await HeldTransaction(
                in: database.database, "select is_only::text from storehook.account_count_state for update")
            #expect(try await !database.store.count())
            try await held.release()
            let store = database.store
            async let counted = [store.count(), store.count(), store.count()]
            async let others = [store.count(), store.count(), store.count()]
            let all = try await counted + others
            #expect(all.count { $0 } == 1)
            let counts = try await store.counts(in: "Production")
            #expect(counts.groups.reduce(0) { $0 + $1.count } == 17 && counts.anonymous == 4)
        }
    }
}
