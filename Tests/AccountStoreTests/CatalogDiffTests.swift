import AccountStore
import Accounts
import Postgres
import Simulation
import TestSupport
import Testing

/// What is told before a catalog is applied.
struct CatalogDiffTests {
    /// At least so many accounts: ten thousand with all samples.
    private static let accounts = takesAllSamples ? 10_000 : 1_000

    /// Purchases of more accounts than these. Some accounts were granted something or tried the app. No end of theirs passes for half
    /// an hour, and of what does not renew Apple names no end.
    private static func fill(_ database: AccountDatabase) async throws {
        try await database.pool.withTransaction { session in
            try session.executeScript(
                SimulatedState(subscriptions: accounts * 33 / 20, oneTimePurchases: accounts * 2 / 5).script,
                deadline: .seconds(120))
            try session.executeScript(
                """
                update storehook.one_time_purchases set expires_at = null where kind = 'non_renewing';
                delete from storehook.subscriptions s
                 where exists (select from unnest(s.phase_starts) t where t between now() and now() + interval '30 minutes');
                delete from storehook.one_time_purchases
                 where extract(epoch from now() + interval '30 minutes' - purchased_at)::bigint % 86400 < 1800;
                insert into storehook.accounts (token, account)
                select token, case when n % 2 = 0 then 'person-' || n end
                  from (select token, row_number() over (order by token) as n
                          from (select app_account_token from storehook.subscriptions
                                union select app_account_token from storehook.one_time_purchases) t (token)
                         where token is not null) a;
                insert into storehook.staff_acts (token, kind, tier, days, recorded_by, why)
                select token, 'grant', 'tier' || (1 + get_byte(uuid_send(token), 3) % 3), 20, 'test', 'test'
                  from storehook.accounts where get_byte(uuid_send(token), 0) < 8;
                insert into storehook.staff_acts (token, kind, recorded_by, why)
                select token, 'revoke', 'test', 'test'
                  from storehook.accounts where get_byte(uuid_send(token), 0) = 9;
                insert into storehook.trials (account_hash, token, tier, started_at, ends_at)
                select sha256(uuid_send(token)), token, 'plus', now() - interval '1 day', now() + interval '6 days'
                  from storehook.accounts where get_byte(uuid_send(token), 0) = 10;
                create table public.seen (token uuid, environment text, tier text, primary key (token, environment));
                """, deadline: .seconds(60))
        }
        try await database.pool.query("analyze", deadline: .seconds(60))
    }

    /// What really changed since the last look.
    private static func changes(_ database: AccountDatabase) async throws -> [TierMove: Int] {
        let moves: [TierMove: Int] = try await database.pool.query(
            """
            select n.environment, o.tier as before, n.tier as after, count(*)
              from storehook.account_status_now n left join public.seen o using (token, environment)
             where n.tier is distinct from o.tier
             group by 1, 2, 3
            """
        ).reduce(into: [:]) { moves, row in
            let move = TierMove(
                environment: try row.decode(0), before: try row.decode(1), after: try row.decode(2))
            moves[move] = Int(try row.decode(3, as: Int64.self))
        }
        try await database.pool.query("truncate public.seen")
        try await database.pool.query(
            "insert into public.seen select token, environment, tier from storehook.account_status_now")
        return moves
    }

    @Test func `diff tells exactly what apply then does to thousands of accounts, however catalogs change`()
        async throws
    {
        // Each is gone through twice by diff and apply, some seconds in a debug build.
        let rounds = samples(of: 10)
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            try await Self.fill(database)
            var catalog = RandomCatalog(&generator)
            var moved = 0
            for round in 0...rounds {
                if round > 0 { catalog.change(&generator) }
                let text = catalog.text
                let told = try await database.store.diff(try Catalog(yaml: text))
                let done = try await database.store.apply(text, by: "test")
                #expect(told.moves == done.moves, "round \(round), seed \(generator.seed): \(text)")
                #expect(told.accounts == done.accounts && told.accounts >= Self.accounts, "seed \(generator.seed)")
                let changed = try await Self.changes(database)
                #expect(told.moves == changed, "round \(round), seed \(generator.seed): \(text)")
                for (move, count) in told.moves {
                    let named = told.examples.filter { $0.move == move }
                    #expect(named.count == min(count, 5), "round \(round), seed \(generator.seed)")
                }
                moved += told.moves.values.reduce(0, +)
            }
            #expect(isEnough(moved, of: 400 * rounds), "so few changes say nothing, seed \(generator.seed)")
            // What was carried over is what is derived.
            #expect(try await database.stale().isEmpty, "seed \(generator.seed)")
        }
    }

    @Test func `diff compares a page at least, and no further ones once its time is over`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.query(
                "insert into storehook.accounts (token) select md5(n::text)::uuid from generate_series(1, 1200) n")
            let other = try Catalog(yaml: Shop.catalog(["premium", "premium", "pro"]))
            let some = try await database.store.diff(other, until: ContinuousClock.now)
            #expect(!some.isComplete && some.accounts == 500)
            let all = try await database.store.diff(other, until: ContinuousClock.now + .seconds(60))
            #expect(all.isComplete && all.accounts == 1200)
        }
    }
}
