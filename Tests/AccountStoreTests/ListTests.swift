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

/// Lists of all accounts and all subscriptions, for the desk.
struct ListTests {
    /// Pages of a random size, one after the other, up to the list's end.
    private func all<Element>(
        _ generator: inout some RandomNumberGenerator,
        _ page: (_ after: ListCursor?, _ limit: Int, _ most: Int) async throws -> ListPage<Element>
    ) async throws -> [Element] {
        var (found, cursor, pages) = ([Element](), ListCursor?.none, 0)
        while true {
            let limit = Int.random(in: 1...20, using: &generator)
            let read = try await page(cursor, limit, Int.random(in: 1...60, using: &generator))
            #expect(read.elements.count <= limit)
            found += read.elements
            pages += 1
            guard let next = read.next, pages < 10_000 else { return found }
            // What a command prints and takes.
            cursor = ListCursor(next.description, parts: next.parts.count)
            #expect(cursor == next)
        }
    }

    /// Some of the filters, and the one that is none.
    private func some<Filter>(_ filters: [Filter], _ generator: inout some RandomNumberGenerator) -> [Filter] {
        Array(filters.prefix(1)) + filters.dropFirst().shuffled(using: &generator).prefix(takesAllSamples ? .max : 20)
    }

    private func sandbox(_ number: Int) -> PurchaseKey {
        PurchaseKey(environment: "Sandbox", bundleID: Shop.app, originalTransactionID: "\(10_000 + number)")
    }

    /// Accounts with purchases, with a grant, a block or a trial alone, erased ones, and one with only its name.
    private func fill(_ database: AccountDatabase, _ generator: inout some RandomNumberGenerator) async throws {
        for batch in Purchases.many(90, accounts: 40, &generator).batches(of: 100) { try await database.apply(batch) }
        for number in 0..<10 {
            try await database.apply([
                Purchases.period(
                    sandbox(number), "basic", from: -3, to: Int64.random(in: 1...9, using: &generator),
                    account: token(number * 5))
            ])
        }
        _ = try await database.store.apply(Shop.catalog(), by: "test")
        let pipeline = database.pipeline
        for number in 40..<52 {
            switch number % 4 {
            case 0: _ = try await pipeline.act(.grant(tier: "pro", days: 5), for: account(number), by: "b", why: "w")
            case 1: _ = try await pipeline.startTrial(of: account(number))
            case 2:
                _ = try await pipeline.act(.grant(tier: "premium", days: 9), for: account(number), by: "b", why: "w")
                _ = try await pipeline.act(.revoke, for: account(number), by: "b", why: "w")
            default:
                try await database.pool.query(
                    "insert into storehook.accounts (token, account) values (\(UUID(token(number))), \(name(number)))")
            }
        }
        for number in [5, 10, 40, 41] { _ = try await pipeline.erase(account(number), by: "b") }
        // Some are going to be renewed.
        try await database.pool.query(
            """
            update storehook.account_status set phase_will_renew = array_fill(true, array[cardinality(phase_starts)])
             where get_byte(uuid_send(token), 0) < 64
            """)
    }

    /// What each account is in each environment that it is listed in, as the account API has it.
    private func views(_ database: AccountDatabase) async throws -> [AccountView] {
        let rows = try await database.pool.query(
            """
            select a.token, coalesce(s.environment, 'Production'), a.erased_at from storehook.accounts a
              left join storehook.account_status s using (token) order by 1, 2
            """)
        var views: [AccountView] = []
        for row in rows {
            let token = UniqueIdentifier(try row.decode(0, as: UUID.self))
            var view = try await database.store.view(token, in: try row.decode(1))
            view.erasedAt = try row.decode(2, as: PostgresTimestamp?.self).map { Timestamp($0) }
            views.append(view)
        }
        return views
    }

    private func fits(_ view: AccountView, _ filter: AccountFilter) -> Bool {
        let now = view.instant
        let held = (view.state.holdings ?? []).filter { $0.startsAt <= now && $0.endsAt.map { $0 > now } ?? true }
        let sources =
            held.map { ($0.productID, $0.purchase.bundleID) }
            + [(view.current.productID ?? "", view.current.purchase?.bundleID ?? "")]
        let ends = filter.endingWithinDays.map { view.isExpiringSoon(within: $0) }
        return (filter.environment ?? view.environment) == view.environment
            && (filter.status ?? view.current.status) == view.current.status
            && (filter.tier ?? view.current.tier) == view.current.tier && ends ?? true
            && (!filter.isErased || view.erasedAt != nil)
            && (filter.productID == nil && filter.bundleID == nil
                || sources.contains {
                    $0.0 == filter.productID ?? $0.0 && $0.1 == filter.bundleID ?? $0.1
                        && !(filter.bundleID == nil && filter.productID == nil)
                })
    }

    @Test func `Every account is listed that a filter fits, whatever the pages, and no other`() async throws {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            await #expect(throws: ActRefusal.noCatalog) { try await database.store.list(limit: 3) }
            try await fill(database, &generator)
            let views = try await views(database)
            var found = 0
            for filter in some(Self.accountFilters, &generator) {
                let listed = try await all(&generator) {
                    try await database.store.list(filter, after: $0, limit: $1, lookingThrough: $2)
                }
                let expected = views.filter { fits($0, filter) }
                #expect(
                    listed.map(\.place) == expected.map { "\($0.token) \($0.environment)" },
                    "\(filter), seed \(generator.seed)")
                for (account, view) in zip(listed, expected) where account.token == view.token {
                    let current = view.current
                    #expect(account.status == current.status && account.tier == current.tier, "\(filter)")
                    #expect(account.source == current.source && account.productID == current.productID)
                    #expect(account.expiresAt == current.expiresAt && account.willRenew == current.willRenew)
                    #expect(account.originalTransactionID == current.purchase?.originalTransactionID)
                    #expect(account.erasedAt == view.erasedAt && account.act == current.act)
                }
                found += listed.isEmpty ? 0 : 1
            }
            #expect(
                isEnough(found, of: Self.accountFilters.count / 8), "hardly a filter found anything: \(generator.seed)")
            let whole = try await database.store.list(limit: 1000).elements
            #expect(Set(whole.filter { $0.erasedAt != nil }.map(\.token)).count == 4)
            for (number, status) in [(42, AccountStatus.revoked), (44, .active), (45, .trial), (43, .free)] {
                #expect(whole.contains { $0.account == name(number) && $0.status == status }, "\(number)")
            }
        }
    }

    /// Each way to combine seven filters.
    private static let accountFilters: [AccountFilter] = (0..<128).map { bits in
        var filter = AccountFilter()
        if bits & 1 > 0 { filter.status = [.active, .expired, .cancelled, .free][bits / 32] }
        if bits & 2 > 0 { filter.tier = bits & 4 > 0 ? "pro" : "premium" }
        if bits & 4 > 0 { filter.productID = "basic" }
        if bits & 8 > 0 { filter.bundleID = Shop.app }
        if bits & 16 > 0 { filter.environment = "Production" }
        if bits & 32 > 0 { filter.endingWithinDays = 12 }
        if bits & 64 > 0 { filter.isErased = true }
        return filter
    }

    @Test func `Every subscription is listed that a filter fits, whoever has it, and no other`() async throws {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            try await fill(database, &generator)
            let reader = LedgerReader(database.pool)
            let keys = try await database.pool.query(
                """
                select original_transaction_id, bundle_id, environment from storehook.subscriptions
                 order by original_transaction_id, bundle_id, environment
                """
            ).map { try PurchaseKey($0) }
            var owners: [PurchaseKey: UniqueIdentifier] = [:]
            for view in try await views(database) {
                for purchase in view.purchases where purchase.owner == view.token { owners[purchase.key] = view.token }
            }
            let now = Timestamp(try await database.value("select now()", as: PostgresTimestamp.self))
            var all: [SubscriptionView] = []
            for key in keys {
                all += try await reader.status(of: key.originalTransactionID, at: now).filter { $0.key == key }
            }
            #expect(all.contains { owners[$0.key] == nil }, "nothing is unowned: seed \(generator.seed)")
            for filter in some(Self.subscriptionFilters, &generator) {
                let listed = try await self.all(&generator) {
                    try await reader.subscriptions(filter, after: $0, limit: $1, lookingThrough: $2)
                }
                let expected = all.filter { subscription in
                    let ends = (subscription.graceEndsAt ?? subscription.expiresAt) ?? .distantFuture
                    let products = filter.products.map { $0.map(\.productID) }
                    return (filter.status ?? subscription.status) == subscription.status
                        && (filter.environment ?? subscription.key.environment) == subscription.key.environment
                        && (filter.bundleID ?? subscription.key.bundleID) == subscription.key.bundleID
                        && (filter.productID ?? subscription.productID) == subscription.productID
                        && products?.contains(subscription.productID ?? "") ?? true
                        && (filter.endingWithinDays.map {
                            subscription.access && ends <= now.adding(days: Int64($0))
                                && (subscription.willRenew != true || subscription.status == .gracePeriod)
                        } ?? true)
                        && (!filter.isUnowned || owners[subscription.key] == nil)
                }
                #expect(
                    listed.map(\.subscription.key) == expected.map(\.key), "\(filter), seed \(generator.seed)")
                for (one, subscription) in zip(listed, expected) {
                    #expect(one.subscription == subscription && one.owner == owners[subscription.key])
                }
            }
        }
    }

    /// Each way to combine six filters.
    private static let subscriptionFilters: [SubscriptionFilter] = (0..<64).map { bits in
        var filter = SubscriptionFilter()
        if bits & 1 > 0 { filter.status = bits & 2 > 0 ? .active : .expired }
        if bits & 2 > 0 { filter.products = [.init(bundleID: Shop.app, productID: "basic")] }
        if bits & 4 > 0 { filter.productID = bits & 2 > 0 ? "basic" : "plus" }
        if bits & 8 > 0 { filter.environment = "Production" }
        if bits & 16 > 0 { filter.endingWithinDays = 20 }
        if bits & 32 > 0 { filter.isUnowned = true }
        if bits & 40 == 40 { filter.bundleID = Shop.app }
        return filter
    }

    @Test(.timeLimit(.minutes(30)))
    func `Every page of every filter reads a bounded number of rows, the first and a deep one`() async throws {
        let (all, most, limit) = takesAllSamples ? (1_000_000, 10_000, 100) : (20_000, 500, 20)
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let current = try #require(try await database.store.current())
            try await fill(database, accounts: all)
            for isAnalyzed in takesAllSamples ? [false, true] : [Bool.random()] {
                if isAnalyzed { try await database.pool.query("vacuum analyze", deadline: .seconds(600)) }
                for deep in [0.0, 0.6] {
                    let token = UniqueIdentifier(high: UInt64(deep * Double(UInt64.max)), low: 0).description
                    for filter in Self.accountFilters {
                        let list = AccountStore.list(
                            filter, under: current, after: ListCursor(behind: [token, "Production"]), limit: limit,
                            lookingThrough: most)
                        try await expectBound(list, of: most, 3, "\(filter) from \(deep)", database)
                    }
                    let place = String(Int(1_000_000_000 + deep * Double(all)))
                    for filter in Self.subscriptionFilters {
                        let list = LedgerReader.list(
                            filter, after: ListCursor(behind: [place, Shop.app, "Production"]), limit: limit,
                            lookingThrough: most)
                        try await expectBound(list, of: most, 8, "\(filter) from \(deep)", database)
                    }
                }
            }
        }
    }

    /// - Parameters:
    ///   - most: how many rows a page looks through.
    ///   - tables: how many rows of tables are read for each of them.
    private func expectBound<Element>(
        _ list: BoundedList<Element>, of most: Int, _ tables: Int, _ about: String, _ database: AccountDatabase
    ) async throws {
        let plans = try await database.pool.withTransaction(BoundedList<Element>.reading("explain")) { session in
            try session.query(PostgresQuery.goingByOrder)
            return try [list.elements, list.end].map { statement in
                let query: PostgresQuery = "explain (analyze, buffers, timing off, format json) \(embedding: statement)"
                return try session.query(query).map { try $0.decode(0, as: PostgresJSON.self).text }.joined()
            }
        }
        for text in plans {
            let plan = try #require(
                (try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])?.first?["Plan"]
                    as? [String: Any])
            let rows = Self.rows(plan)
            let buffers = ((plan["Shared Hit Blocks"] as? Int) ?? 0) + ((plan["Shared Read Blocks"] as? Int) ?? 0)
            #expect(rows <= tables * (most + 100), "\(rows) rows: \(about)\n\(text)")
            // A look-up takes an index's levels and a page of the table; unowned ones take a dozen look-ups each.
            #expect(buffers <= 8 * tables * (most + 100), "\(buffers) buffers: \(about)\n\(text)")
        }
    }

    /// The rows that a plan reads from tables and indexes, those that did not fit included.
    private static func rows(_ plan: [String: Any]) -> Int {
        let loops = plan["Actual Loops"] as? Double ?? 1
        var rows = 0.0
        if plan["Relation Name"] != nil || plan["Index Name"] != nil {
            let names = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"]
            rows = names.reduce(0) { $0 + (plan[$1] as? Double ?? 0) } * loops
        }
        return Int(rows) + (plan["Plans"] as? [[String: Any]] ?? []).reduce(0) { $0 + Self.rows($1) }
    }

    /// A database with so many accounts and subscriptions, spread over the tables by chance.
    private func fill(_ database: AccountDatabase, accounts all: Int) async throws {
        try await database.pool.query(
            """
            insert into storehook.accounts (token, account, erased_at)
            select md5(n::text)::uuid, 'person-' || n, case when n % 1000 = 7 then now() end
              from generate_series(1, \(Int64(all))) n
            """, deadline: .seconds(600))
        try await database.pool.query(
            """
            insert into storehook.account_status
                   (token, environment, catalog, version, phase_starts, phase_status, phase_tier, phase_source, phase_product,
                    phase_bundle, phase_purchase, phase_act, phase_expires, phase_will_renew, phase_trial)
            select md5(n::text)::uuid, case n % 50 when 0 then 'Sandbox' else 'Production' end, c.current_version, 1,
                   array['-infinity', now() - interval '60 days', now() + (n % 100 - 50) * interval '1 day'],
                   array['free', case n % 3 when 0 then 'cancelled' else 'active' end, 'expired'],
                   array['free', case n % 4 when 0 then 'premium' else 'pro' end, 'free'],
                   array['none', 'apple', 'apple'], array[null, 'basic', 'basic'], array[null, \(Shop.app), \(Shop.app)],
                   array[null, n::text, n::text], array[null, null, null]::bigint[],
                   array[null, now() + (n % 100 - 50) * interval '1 day', now() + (n % 100 - 50) * interval '1 day']::timestamptz[],
                   array[false, n % 3 > 0, false], array[false, false, false]
              from generate_series(1, \(Int64(all))) n cross join storehook.catalog_state c
             where n % 10 > 0
            """, deadline: .seconds(600))
        try await database.pool.withTransaction(TransactionOptions(deadline: .seconds(600))) { session in
            // As a program that knows of accounts.
            try session.query("set local session_replication_role = replica")
            try session.query(
                """
                insert into storehook.subscriptions
                       (environment, bundle_id, original_transaction_id, app_account_token, phase_starts, phase_status, phase_product,
                        phase_expires, phase_trial, paid_until, phase_basis, phase_transaction, phase_period_ends, phase_grace_ends,
                        phase_will_renew, phase_renewal_product, phase_price_pending, phase_intent, phase_account)
                select 'Production', \(Shop.app), (1000000000 + (n * 7919::bigint) % \(Int64(all)))::text, t.token,
                       array[now() - interval '60 days', e.at], array[case n % 5 when 0 then 'cancelled' else 'active' end, 'expired'],
                       array_fill(case n % 3 when 0 then 'plus' else 'basic' end, array[2]), array[e.at, e.at],
                       array[false, false], e.at, array['records', 'records'], array[n::text, n::text], array[e.at, e.at],
                       array[null, null]::timestamptz[], array[n % 5 > 0, false], array[null, null]::text[],
                       array[false, false], array[null, null]::smallint[], array[t.token, t.token]
                  from generate_series(1, \(Int64(all))) n
                 cross join lateral (select now() + (n % 100 - 50) * interval '1 day' as at) e
                 cross join lateral (select case when n % 20 > 0 then md5(n::text)::uuid end as token) t
                """, deadline: .seconds(600))
        }
    }
}

extension ListedAccount {
    fileprivate var place: String { "\(token) \(environment)" }
}
