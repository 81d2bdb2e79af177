import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import Foundation
import Postgres
import TestSupport
import Testing

/// What an account's callers may add to the database in a day.
struct WriteBudgetTests {
    private static let most: Int64 = 10_000_000

    /// A text that was not sent before, and that takes all the room it can: nothing of it is packed.
    private static func text(_ length: Int = Consents.maximumTextLength) -> String {
        String(
            String.UnicodeScalarView(
                (0..<length).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0x5000...0x9000)) }))
    }

    private static func attempt(_ account: String) -> PurchaseAttempt {
        PurchaseAttempt(account: AccountToken.of(account), productID: "basic", kind: .purchase, outcome: .failed)
    }

    /// What is left of an account's budget of today is this.
    private static func leave(_ bytes: Int64, to account: String, _ database: AccountDatabase) async throws {
        try await database.pool.query(
            """
            insert into storehook.write_budgets (token, day, bytes)
            values (\(UUID(AccountToken.of(account))), (now() at time zone 'UTC')::date, \(most - bytes))
                on conflict (token) do update set day = excluded.day, bytes = excluded.bytes
            """)
    }

    private static func spent(_ account: String, _ database: AccountDatabase) async throws -> Int64 {
        try await database.value(
            """
            select coalesce((select bytes from storehook.write_budgets where token = \(UUID(AccountToken.of(account)))), 0)
            """)
    }

    /// Runs it until the budget is used up.
    /// - Returns: how often it ran, and how long it is to be waited then.
    private static func exhaust(_ write: () async throws -> Void) async throws -> (count: Int, retryAfter: Int) {
        var count = 0
        while true {
            do {
                try await write()
            } catch let exhausted as WriteBudget.Exhausted {
                return (count, exhausted.retryAfter)
            }
            count += 1
        }
    }

    @Test func `Attempts and consents end with the day's budget, and begin anew with the day of UTC`() async throws {
        try await AccountDatabase.with { database in
            let consents = Consents(database.pool)
            func consent(_ granted: Bool, _ text: String?) async throws {
                _ = try await consents.record("ann", granted: granted, text: text, by: "test", isBudgeted: true)
            }
            try await Self.leave(100_000, to: "ann", database)
            let (texts, retryAfter) = try await Self.exhaust { try await consent(true, Self.text()) }
            #expect((8...12).contains(texts), "\(texts)")
            #expect((1...86_400).contains(retryAfter))
            // Nothing is left for a consent; there is for less.
            let (attempts, _) = try await Self.exhaust { try await database.store.record(Self.attempt("ann")) }
            #expect(attempts >= 1)
            let kept = try await database.count("purchase_attempts")
            await #expect(throws: WriteBudget.Exhausted.self) { try await database.store.record(Self.attempt("ann")) }
            #expect(try await database.count("purchase_attempts") == kept)
            #expect(try await Self.spent("ann", database) <= Self.most)
            // No other account pays for it.
            try await database.store.record(Self.attempt("bob"))
            // The next day.
            try await database.pool.query("update storehook.write_budgets set day = day - 1")
            try await database.store.record(Self.attempt("ann"))
            #expect(
                try await Self.spent("ann", database) == Int64(WriteWeight.attempt(["basic"])))
            // Who began before midnight and comes after one of the new day spends of that one.
            try await database.pool.query(
                "update storehook.write_budgets set day = day + 1, bytes = \(Self.most) where token = \(UUID(AccountToken.of("ann")))"
            )
            await #expect(throws: WriteBudget.Exhausted.self) { try await database.store.record(Self.attempt("ann")) }
        }
    }

    @Test func `It is waited for until the day of UTC ends by the database's clock`() async throws {
        try await AccountDatabase.with { database in
            try await Self.leave(0, to: "ann", database)
            let before: Double = try await database.value(
                "select extract(epoch from (date_trunc('day', now() at time zone 'UTC') + interval '1 day') - now() at time zone 'UTC')::float8"
            )
            let (_, retryAfter) = try await Self.exhaust { try await database.store.record(Self.attempt("ann")) }
            // Unless midnight came in between.
            #expect(abs(Double(retryAfter) - before) < 30 || before < 30, "\(retryAfter) of \(before)")
        }
    }

    @Test func `The same consent again writes nothing and spends nothing, and each text is kept once`() async throws {
        try await AccountDatabase.with { database in
            let consents = Consents(database.pool)
            let first = try await consents.record("ann", granted: true, text: "May we?", by: "app", isBudgeted: true)
            let spent = try await Self.spent("ann", database)
            #expect(spent > 0)
            let again = try await withThrowingTaskGroup(of: RecordedConsent.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await consents.record("ann", granted: true, text: "May we?", by: "app", isBudgeted: true)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(again.allSatisfy { $0 == first })
            #expect(try await Self.spent("ann", database) == spent)
            #expect(try await database.count("consumption_consents") == 1)
            // Of many at once one is written.
            _ = try await withThrowingTaskGroup(of: RecordedConsent.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await consents.record("bob", granted: true, text: "May we?", by: "app", isBudgeted: true)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(try await database.count("consumption_consents") == 2)
            #expect(try await database.count("consent_texts") == 1)
            // Other words, or taken back, is something else.
            for (granted, text) in [(false, nil), (true, "May we?"), (true, "May we please?")] as [(Bool, String?)] {
                _ = try await consents.record("ann", granted: granted, text: text, by: "app", isBudgeted: true)
            }
            #expect(
                try await consents.history(of: "ann").map(\.text) == ["May we please?", "May we?", nil, "May we?"])
            #expect(try await database.count("consent_texts") == 2)
            let inRows: Int64 = try await database.value(
                "select count(*) from storehook.consumption_consents where text ilike '%may%'")
            #expect(inRows == 0)
        }
    }

    @Test func `A consent is taken back whatever was written before, without a text that nothing is left for`()
        async throws
    {
        try await AccountDatabase.with { database in
            let consents = Consents(database.pool)
            _ = try await consents.record("ann", granted: true, text: "May we?", by: "app", isBudgeted: true)
            try await Self.leave(0, to: "ann", database)
            let words = Self.text()
            let withdrawn = try await consents.record("ann", granted: false, text: words, by: "app", isBudgeted: true)
            #expect(!withdrawn.granted && withdrawn.text == nil)
            #expect(try await consents.history(of: "ann").map(\.granted) == [false, true])
            #expect(try await database.count("consent_texts") == 1)
            // Which is all that it may: not again, and nothing else.
            for granted in [true, false] {
                await #expect(throws: WriteBudget.Exhausted.self) {
                    _ = try await consents.record("ann", granted: granted, text: words, by: "app", isBudgeted: true)
                }
            }
            #expect(try await database.count("consumption_consents") == 2)
            // Staff's word costs the customer nothing.
            _ = try await consents.record("ann", granted: true, text: words, by: "staff")
            #expect(try await consents.history(of: "ann").first?.text == words)
        }
    }

    @Test func `The budget holds from two pools at once, to the byte, and what is kept is what was paid for`()
        async throws
    {
        try await AccountDatabase.with { database in
            let other = PostgresPool(configuration: database.database.configuration, size: 8, logger: quiet)
            let stores = [database.store, AccountStore(other)]
            let weight = Int64(WriteWeight.attempt(["basic"]))
            try await Self.leave(weight * 100 + 50, to: "ann", database)
            let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<160 {
                    group.addTask {
                        do {
                            try await stores[number % 2].record(Self.attempt("ann"))
                            return false
                        } catch is WriteBudget.Exhausted {
                            return true
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            await other.close()
            #expect(refused == 60)
            #expect(try await database.count("purchase_attempts") == 100)
            #expect(try await Self.spent("ann", database) == Self.most - 50)
            // More than a day has is never within it, whatever the day.
            for day in [0, -1] {
                try await database.pool.query("update storehook.write_budgets set bytes = 0, day = day + \(Int32(day))")
                let isWithin: Bool = try await database.value(
                    "select storehook.spend_write_budget(\(UUID(AccountToken.of("ann"))), \(Self.most + 1))")
                #expect(!isWithin)
            }
            let isWithin: Bool = try await database.value(
                "select storehook.spend_write_budget(gen_random_uuid(), \(Self.most + 1))")
            #expect(!isWithin)
        }
    }

    /// One kind of what an account writes, as fast as it may, alone.
    private static let kinds = ["usage keys", "consents", "consents without texts", "long attempts", "short attempts"]
    /// Those that fit a budget only a few times.
    private static let fewKinds: Set = ["consents", "long attempts"]

    private func write(_ kind: String, for account: String, _ database: AccountDatabase) async throws {
        let consents = Consents(database.pool)
        switch kind {
        case "consents":
            _ = try await Self.exhaust {
                _ = try await consents.record(
                    AccountIdentity(named: account), granted: true, text: Self.text(), by: "the app", isBudgeted: true)
            }
        case "consents without texts":
            _ = try await consents.record(
                AccountIdentity(named: account), granted: true, text: "a", by: "the app", isBudgeted: true)
            _ = try await Self.exhaust {
                for granted in [false, true] {
                    _ = try await consents.record(
                        AccountIdentity(named: account), granted: granted, text: granted ? "a" : nil, by: "the app",
                        isBudgeted: true)
                }
            }
        case "long attempts":
            _ = try await Self.exhaust {
                try await database.store.record(
                    PurchaseAttempt(
                        account: AccountToken.of(account), productID: Self.text(255), kind: .restore,
                        outcome: .completed,
                        reason: Self.text(1000), transactionID: Self.text(64), environment: .localTesting))
            }
        case "short attempts":
            _ = try await Self.exhaust {
                try await database.store.record(
                    PurchaseAttempt(account: AccountToken.of(account), kind: .restore, outcome: .nothing))
            }
        default:
            // Each in a transaction of its own, without a round trip.
            try await database.pool.query(
                """
                do $$
                begin
                    perform set_config('synchronous_commit', 'off', false);
                    while (storehook.count_usage(
                              '\(unescaped: "\(AccountToken.of(account))")', 'words', 'add', 1, null, 'total', '-infinity', null, null,
                              null, gen_random_uuid())).outcome <> 'write_budget' loop
                        commit;
                    end loop;
                end
                $$
                """, deadline: .seconds(300))
        }
    }

    /// What all tables take but for those with one row of an account that is written again and again: how many of its earlier versions are there
    /// at once depends on what else the server does.
    private func size(_ database: AccountDatabase) async throws -> Int64 {
        try await database.value(
            """
            select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
             where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'm')
               and c.relname not in ('usage_counters', 'write_budgets')
            """)
    }

    /// By default of a tenth of a day, and of a twentieth where a budget has room for thousands of rows.
    @Test(arguments: sampled(kinds))
    func `An account adds no more bytes a day than its budget, and upkeep takes them away in time`(kind: String)
        async throws
    {
        try await AccountDatabase.with { database in
            let day = Int64(samples(of: 10_000_000, oneIn: Self.fewKinds.contains(kind) ? 10 : 20))
            try await Self.leave(day, to: "ann", database)
            let before = try await size(database)
            try await write(kind, for: "ann", database)
            let growth = try await size(database) - before
            // Files grow by pages, and free space maps by some at once. What is paid for is not much more than what was written, either.
            #expect(growth <= day + 400_000, "\(kind): \(growth) bytes")
            #expect(growth >= day / 3, "\(kind): \(growth) bytes")

            // Younger than what is kept: nothing goes.
            let usage = Usage(database.pool)
            let consents = Consents(database.pool)
            func maintain() async throws -> [Int64] {
                [
                    try await database.store.dropAttempts(keeping: 90), try await consents.dropSuperseded(keeping: 90),
                    try await usage.dropOld().keys, try await WriteBudget.dropOld(database.pool),
                ]
            }
            #expect(try await maintain() == [0, 0, 0, 0])
            try await database.pool.withTransaction { session in
                try session.executeScript(
                    """
                    update storehook.purchase_attempts set at = at - interval '91 days';
                    update storehook.consents_superseded set at = at - interval '91 days';
                    update storehook.usage_keys set kept_until = kept_until - interval '40 days';
                    update storehook.write_budgets set day = day - 2;
                    """)
            }
            // To age the rows has written each once more.
            let aged = try await size(database)
            #expect(try await maintain().reduce(0, +) > 10)
            for table in ["purchase_attempts", "consents_superseded", "usage_keys", "write_budgets"] {
                #expect(try await database.count(table) == 0, "\(table)")
            }
            // What counts stays, with its text: of the second a withdrawal, which has none.
            #expect(try await database.count("consumption_consents") == (kind.hasPrefix("consents") ? 1 : 0))
            #expect(try await database.count("consent_texts") == (kind == "consents" ? 1 : 0))
            // The room is there for another day.
            for table in [
                "purchase_attempts", "consumption_consents", "consent_texts", "consents_superseded", "usage_keys",
            ] {
                try await database.pool.query("vacuum storehook.\(unescaped: table)")
            }
            try await Self.leave(day / 2, to: "ann", database)
            try await write(kind, for: "ann", database)
            let again = try await size(database)
            #expect(again <= aged + 100_000, "\(kind): \(again - aged)")
        }
    }

    @Test func `What programs of the release before record is kept likewise`() async throws {
        try await AccountDatabase.with { database in
            for (granted, text) in [(true, Self.text(9_000)), (false, nil), (true, "short")] as [(Bool, String?)] {
                try await database.pool.query(
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                    values ('ann', \(UUID(AccountToken.of("ann"))), \(granted), \(text), 'the app') returning *
                    """)
            }
            #expect(try await database.count("consumption_consents") == 3)
            #expect(try await database.count("consent_texts") == 2)
            #expect(try await database.count("consents_superseded") == 2)
            #expect(try await Consents(database.pool).history(of: "ann").map { $0.text?.count } == [5, nil, 9_000])
            try await database.pool.query(
                "insert into storehook.purchase_attempts (token, product_id, kind, outcome) values (gen_random_uuid(), 'a', 'restore', 'failed')"
            )
        }
    }
}
