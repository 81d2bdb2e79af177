import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// Balances of random consumables, and limits that count on with what moves, against independent models.
struct CreditReadersTests {
    @Test("each account's balance is what the model says of random consumables, heard in any order")
    func balances() async throws {
        var generator = SeededGenerator()
        let lives = sampledSeeds(of: 300).map { CreditMaker.life(seed: $0, number: Int($0)) }
        let messages = lives.flatMap(\.messages).shuffled(using: &generator)
        let seed = generator.seed
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(LifeRows.catalog, by: "test")
            for batch in try messages.map(LifeRows.entry).batches(of: 20) { try await database.apply(batch) }
            for life in lives { try await LifeRows.write(life, database) }
            #expect(try await database.stale().isEmpty)
            var balances: [String: [Int64]] = [:]
            for life in lives {
                for line in life.lines {
                    let messages = life.messages.filter { $0.line == line }
                    guard let thing = ThingModel(messages) else { continue }
                    let owner = OwnerModel(life.bindings[line] ?? []).owner(of: thing, at: .max)
                    let credits = CreditModel(messages)
                    let sum = balances[owner ?? "nobody", default: [0, 0]]
                    balances[owner ?? "nobody"] = [sum[0] + credits.bought, sum[1] + credits.takenBack]
                }
            }
            let expected = balances.mapValues { sum in
                let rest = sum[0] * 100_000 - sum[1]
                return [sum[0], sum[1] / 100_000, rest / 100_000, sum[1], rest]
            }
            let rows = try await database.pool.query(
                """
                select coalesce(app_account_token::text, 'nobody') as owner, bought, revoked, balance, revoked_parts, balance_parts
                  from storehook.consumable_balances where product_id = 'coins'
                """)
            let told = try rows.map { row in
                (
                    try row.decode("owner", as: String.self),
                    try ["bought", "revoked", "balance", "revoked_parts", "balance_parts"].map {
                        try row.decode($0, as: Int64.self)
                    }
                )
            }
            #expect(Set(told.map(\.0)).count == told.count, "one row of each account")
            for (owner, numbers) in told {
                #expect(numbers == expected[owner], "\(owner), seed \(seed)")
            }
            #expect(Set(told.map(\.0)) == Set(expected.keys), "seed \(seed)")
            #expect(isEnough(expected.count, of: 150))
        }
    }

    /// What was used of a feature in a period.
    private struct Counter: Hashable {
        var account: Int
        var feature: String
        var period: String
        /// The first day.
        var start: String

        /// Whether it counts on with a purchase: the running day or month.
        var moves: Bool { period != "total" && start == Self.running }

        static let running = "2026-01-01"
        static let all = (1...3).flatMap { account in
            ["words", "exports"].flatMap { feature in
                [("day", running), ("month", running), ("month", "2020-01-01"), ("total", "-infinity")].map {
                    Counter(account: account, feature: feature, period: $0.0, start: $0.1)
                }
            }
        }
    }

    @Test("limits count on with purchases that move at random, as the model says")
    func counters() async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let steps = (0..<samples(of: 400)).map { _ in UInt64.random(in: .min ... .max, using: &generator) }
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply(
                (1...2).map { Purchases.period(purchase($0), "basic", from: -5, to: 25, account: nil) })
            var used: [Counter: Int64] = [:]
            var owners: [Int: Int] = [:]
            var moves = 0
            for step in steps {
                var random = ModelRandom(seed: step)
                if random.chance(60) {
                    let counter = random.pick(Counter.all)
                    used[counter, default: 0] += random.between(1, 20)
                    try await write(counter, used[counter] ?? 0, database)
                } else {
                    let (number, account) = (Int(random.between(1, 2)), Int(random.between(1, 3)))
                    let store = database.store
                    // No purchase moves more than three times in 30 days.
                    try await database.pool.query("update storehook.purchase_bindings set at = at - interval '31 days'")
                    _ = try await database.pool.withTransaction {
                        try store.bind(
                            [purchase(number)], to: AccountIdentity(named: name(account)), under: .transfer, $0)
                    }
                    if let owner = owners[number], owner != account {
                        moves += 1
                        for former in Counter.all where former.account == owner && former.moves {
                            var counter = former
                            counter.account = account
                            if let more = used[former] { used[counter] = max(used[counter] ?? 0, more) }
                        }
                    }
                    owners[number] = account
                }
                let told = try await read(database)
                #expect(told == used, "seed \(seed)")
                if told != used { return }
            }
            #expect(isEnough(moves, of: 50), "\(moves) moves")
        }
    }

    private func write(_ counter: Counter, _ used: Int64, _ database: AccountDatabase) async throws {
        let end: String? = counter.period == "total" ? nil : counter.moves ? "9999-01-01" : "2020-02-01"
        try await database.pool.query(
            """
            insert into storehook.usage_counters as c (token, feature, period, starts_on, resets_at, used)
            values (\(UUID(token(counter.account))), \(counter.feature), \(counter.period),
                    \(counter.start)::text::date, \(end)::text::timestamptz, \(used))
            on conflict (token, feature, period, starts_on) do update set used = excluded.used
            """)
    }

    private func read(_ database: AccountDatabase) async throws -> [Counter: Int64] {
        let accounts = Dictionary(uniqueKeysWithValues: (1...3).map { (UUID(token($0)), $0) })
        var used: [Counter: Int64] = [:]
        for row in try await database.pool.query(
            "select token, feature, period, starts_on::text as start, used from storehook.usage_counters")
        {
            let token: UUID = try row.decode("token")
            guard let account = accounts[token] else { throw NeverHappened("an account with usage") }
            let counter = Counter(
                account: account, feature: try row.decode("feature"), period: try row.decode("period"),
                start: try row.decode("start"))
            used[counter] = try row.decode("used")
        }
        return used
    }
}
