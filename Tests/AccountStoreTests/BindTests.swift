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

/// Whose a purchase is.
struct BindTests {
    private func bind(
        _ database: AccountDatabase, _ key: PurchaseKey, to account: AccountIdentity, under rule: RestoreRule = .keep
    ) async throws -> BindOutcome? {
        let store = database.store
        return try await database.pool.withTransaction {
            try store.bind([key], to: account, under: rule, $0).outcomes[key]
        }
    }

    /// What is kept of how the app calls an account.
    private func named(_ token: UniqueIdentifier, _ database: AccountDatabase) async throws -> String? {
        try await database.value("select account from storehook.accounts where token = \(UUID(token))")
    }

    private func prepared(_ account: UniqueIdentifier?, _ body: (AccountDatabase) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([Purchases.period(purchase(1), "basic", from: -5, to: 25, account: account)])
            try await body(database)
        }
    }

    @Test func `Of 20 who prove an unclaimed purchase at once, one gets it`() async throws {
        try await prepared(nil) { database in
            let outcomes = try await withThrowingTaskGroup(of: BindOutcome?.self) { group in
                for number in 0..<20 { group.addTask { try await bind(database, purchase(1), to: account(number)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .bound } == 1)
            #expect(outcomes.count { $0 == .boundElsewhere } == 19)
            let holders: Int64 = try await database.value(
                "select count(*) from storehook.account_status_now where access and tier = 'pro'")
            #expect(holders == 1)
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `What Apple signed for another account goes to nobody else under either rule`() async throws {
        try await prepared(token(1)) { database in
            #expect(try await bind(database, purchase(1), to: account(1)) == .already)
            #expect(try await bind(database, purchase(1), to: account(2)) == .otherAccountsToken)
            #expect(try await bind(database, purchase(1), to: account(2), under: .transfer) == .otherAccountsToken)
            let view = try await database.store.view(token(1), in: "Production")
            #expect(view.current.status == .active)
            #expect(try await named(token(1), database) == name(1))
        }
    }

    /// As an earlier release has stored it, which took the nil UUID for a token.
    @Test(arguments: [true, false])
    func `The nil UUID that is stored names nobody: whoever proves the purchase first has it`(
        isSubscription: Bool
    ) async throws {
        try await AccountDatabase.with { database in
            let none = UniqueIdentifier(high: 0, low: 0)
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                isSubscription
                    ? Purchases.period(purchase(1), "basic", from: -5, to: 25, account: none)
                    : Purchases.forever(purchase(1), at: -5, account: none)
            ])
            try await database.pool.query(
                """
                insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                select \(UUID(none)), environment, original_transaction_id, bundle_id from storehook.purchase_lines
                on conflict do nothing
                """)
            if !isSubscription {
                try await database.pool.query(
                    "update storehook.one_time_purchases set app_account_token = \(UUID(none))")
            }
            // A reader of the tables sees a purchase without an owner.
            func count(_ rows: PostgresQuery) async throws -> Int64 {
                try await database.value("select count(*) from storehook.\(embedding: rows)")
            }
            #expect(try await count("entitlements where access and app_account_token is null") == 1)
            #expect(try await count("entitlements") == 1)
            #expect(try await count("subscription_status where app_account_token is not null") == 0)
            #expect(try await count("held_purchases where token is not null") == 0)
            let bought = try await LedgerReader(database.pool).oneTimePurchases(
                of: purchase(1).originalTransactionID)
            #expect(bought.map(\.value.appAccountToken) == (isSubscription ? [] : [nil]))
            #expect(try await bind(database, purchase(1), to: account(1)) == .bound)
            #expect(try await bind(database, purchase(1), to: account(2)) == .boundElsewhere)
            #expect(try await database.store.view(token(1), in: "Production").current.access)
            #expect(try await !database.store.view(none, in: "Production").current.access)
            #expect(try await database.value("select count(*) from storehook.account_lines", as: Int64.self) == 1)
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `Under transfer a purchase moves three times in 30 days, on record`() async throws {
        try await prepared(nil) { database in
            #expect(try await bind(database, purchase(1), to: account(0), under: .transfer) == .bound)
            for number in 1...3 {
                #expect(try await bind(database, purchase(1), to: account(number), under: .transfer) == .transferred)
            }
            #expect(try await bind(database, purchase(1), to: account(4), under: .transfer) == .boundElsewhere)
            #expect(try await database.store.view(token(3), in: "Production").current.access)
            #expect(try await !database.store.view(token(0), in: "Production").current.access)
            #expect(try await database.value("select count(*) from storehook.purchase_bindings", as: Int64.self) == 4)
            // A month later it may move again.
            try await database.pool.query("update storehook.purchase_bindings set at = at - interval '31 days'")
            #expect(try await bind(database, purchase(1), to: account(4), under: .transfer) == .transferred)
        }
    }

    @Test func `Limits by day and month count on with a purchase that moves, and totals stay`() async throws {
        try await prepared(nil) { database in
            func use(_ number: Int, _ period: String, _ used: Int64, isOver: Bool = false) async throws {
                let start = period == "total" ? "-infinity" : isOver ? "2020-01-01" : "2026-01-01"
                let end = period == "total" ? nil : isOver ? "2020-02-01" : "9999-01-01"
                try await database.pool.query(
                    """
                    insert into storehook.usage_counters as c (token, feature, period, starts_on, resets_at, used)
                    values (\(UUID(token(number))), 'exports', \(period), \(start)::text::date,
                            \(end)::text::timestamptz, \(used))
                    on conflict (token, feature, period, starts_on) do update set used = excluded.used
                    """)
            }
            func used(_ number: Int) async throws -> [String] {
                try await database.pool.query(
                    """
                    select concat_ws(' ', period, starts_on, used) from storehook.usage_counters
                     where token = \(UUID(token(number))) order by 1
                    """
                ).map { try $0.decode(0) }
            }
            #expect(try await bind(database, purchase(1), to: account(0), under: .transfer) == .bound)
            try await use(0, "month", 100)
            try await use(0, "total", 7)
            try await use(0, "month", 55, isOver: true)
            for number in 1...3 {
                #expect(try await bind(database, purchase(1), to: account(number), under: .transfer) == .transferred)
                #expect(try await used(number) == ["month 2026-01-01 \(99 + number)"])
                try await use(number, "month", Int64(100 + number))
            }
            // What the former owner used stays, and who has used more keeps that.
            #expect(try await used(0) == ["month 2020-01-01 55", "month 2026-01-01 100", "total -infinity 7"])
            try await database.pool.query("update storehook.purchase_bindings set at = at - interval '31 days'")
            try await use(4, "month", 500)
            #expect(try await bind(database, purchase(1), to: account(4), under: .transfer) == .transferred)
            #expect(try await used(4) == ["month 2026-01-01 500"])
        }
    }

    @Test func `Consumables count for the account that proved them, was given them, or was signed for`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                Purchases.signedOnce(purchase(1), "coins", .consumable, at: -5, account: nil),
                Purchases.signedOnce(purchase(2), "coins", .consumable, at: -4, account: token(2)),
            ])
            func balances() async throws -> [String] {
                try await database.pool.query(
                    """
                    select coalesce(a.account, b.app_account_token::text, 'nobody') || ' ' || b.balance
                      from storehook.consumable_balances b left join storehook.accounts a on a.token = b.app_account_token
                     order by 1
                    """
                ).map { try $0.decode(0) }
            }
            #expect(try await balances() == ["\(token(2)) 1", "nobody 1"].sorted())
            // As an earlier release has stored it, which took the nil UUID for a token.
            let none = UniqueIdentifier(high: 0, low: 0)
            try await database.pool.query(
                """
                update storehook.one_time_purchases set app_account_token = \(UUID(none)) where app_account_token is null
                """)
            #expect(try await balances() == ["\(token(2)) 1", "nobody 1"].sorted())
            #expect(try await bind(database, purchase(1), to: account(1)) == .bound)
            #expect(try await bind(database, purchase(2), to: account(2)) == .already)
            #expect(try await balances() == ["\(name(1)) 1", "\(name(2)) 1"])
            #expect(try await bind(database, purchase(1), to: account(2), under: .transfer) == .transferred)
            #expect(try await balances() == ["\(name(2)) 2"])
            #expect(try await database.pipeline.move(purchase(2), to: account(3), by: "staff", why: "test"))
            #expect(try await balances() == ["\(name(2)) 1", "\(name(3)) 1"])
            #expect(try await database.pipeline.erase(account(2), by: "staff")?.purchasesFreed == 1)
            let own: Int64 = try await database.value(
                "select count(*) from storehook.consumable_balances where app_account_token = \(UUID(token(2)))")
            #expect(own == 0)
        }
    }

    @Test func `A lifetime purchase is held again by a reversal about it alone, and the refund stays what was`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let key = purchase(1)
            try await database.apply([
                Purchases.forever(key, at: -50, account: token(1)),
                Purchases.forever(key, at: -40, account: token(1), id: "copy"),
                Purchases.forever(key, at: -50, account: token(1), revoked: -30, signed: -29),
                Purchases.forever(key, at: -40, account: token(1), id: "copy", revoked: -30, signed: -29),
            ])
            #expect(try await !database.store.view(token(1), in: "Production").current.access)
            try await database.apply([Purchases.forever(key, at: -50, account: token(1), signed: -10)])
            #expect(try await database.store.view(token(1), in: "Production").current.access)
            for (day, access) in [(-45, true), (-31, true), (-29, false), (-11, false), (-9, true)] as [(Int64, Bool)] {
                let then = try await database.store.history(
                    of: token(1), in: "Production", at: Purchases.now.adding(days: day))
                #expect(then?.current.access == access, "day \(day)")
            }
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `A move by staff outlasts renewals and proofs`() async throws {
        try await prepared(token(1)) { database in
            let moved = try await database.pool.withTransaction {
                try database.store.move(purchase(1), to: account(2), by: "staff", why: "bought on his phone", $0)
            }
            #expect(Set(moved.settled?.changed ?? []) == [token(1), token(2)])
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: 25, to: 55, account: token(1), number: 1)
            ])
            #expect(try await database.store.view(token(2), in: "Production").current.tier == "pro")
            #expect(try await database.store.view(token(1), in: "Production").current.status == .free)
            #expect(try await bind(database, purchase(1), to: account(1), under: .transfer) == .boundElsewhere)
            #expect(try await database.pipeline.move(purchase(99), to: account(2), by: "staff", why: "none") == false)
        }
    }

    @Test func `Who buys again after a lapse and proves it gets the purchase, whoever had it before`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            func again(_ number: Int, _ account: UniqueIdentifier?) -> [LedgerEntry] {
                [
                    Purchases.period(purchase(number), "basic", from: -100, to: -70, account: account),
                    Purchases.period(
                        purchase(number), "basic", from: -5, to: 25, account: nil, number: 1, reason: .purchase),
                ]
            }
            try await database.apply(again(1, token(1)))
            #expect(try await database.store.view(token(1), in: "Production").current.access)
            #expect(try await bind(database, purchase(1), to: account(2)) == .bound)
            #expect(try await !database.store.view(token(1), in: "Production").current.access)
            let view = try await database.store.view(token(2), in: "Production")
            #expect(view.current.status == .active && view.purchases.map(\.owner) == [token(2)])
            #expect(try await bind(database, purchase(1), to: account(3)) == .boundElsewhere)
            #expect(try await bind(database, purchase(1), to: account(1)) == .boundElsewhere)
            #expect(try await bind(database, purchase(1), to: account(2)) == .already)
            // The former owner may prove it, too, and then no other account gets it.
            try await database.apply(again(2, token(1)))
            #expect(try await bind(database, purchase(2), to: account(1)) == .already)
            #expect(try await bind(database, purchase(2), to: account(2)) == .boundElsewhere)
            let stretches: String? = try await database.value(
                "select stretches from storehook.subscriptions where original_transaction_id = '10001'")
            #expect(stretches == "\(Purchases.now.adding(days: -5).millisecondsSince1970) \(token(1))")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `A token in renewal info alone is no ground to refuse whoever paid`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let renewal = Purchases.renewal(purchase(1), "basic", to: "plus", signed: -5, account: token(2))
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: nil, renewal: renewal)
            ])
            #expect(try await database.store.view(token(2), in: "Production").current.access)
            #expect(try await bind(database, purchase(1), to: account(1)) == .bound)
            #expect(try await database.store.view(token(1), in: "Production").current.access)
            #expect(try await !database.store.view(token(2), in: "Production").current.access)
            #expect(try await bind(database, purchase(1), to: account(2)) == .boundElsewhere)
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `An erased account's purchases are free for the next, signed tokens too, and its trial stays used`()
        async throws
    {
        try await prepared(token(1)) { database in
            _ = try await bind(database, purchase(1), to: account(1))
            guard case .started = try await database.pipeline.startTrial(of: account(1)) else {
                Issue.record("the trial is to start")
                return
            }
            #expect(try await database.pipeline.erase(account(1), by: "staff")?.purchasesFreed == 1)
            let view = try await database.store.view(token(1), in: "Production")
            #expect(view.current.status == .free && view.trial == nil && view.purchases.isEmpty)
            #expect(try await named(token(1), database) == nil)
            #expect(try await bind(database, purchase(1), to: account(2)) == .bound)
            // Renewals are signed for the erased account all the same.
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: 25, to: 55, account: token(1), number: 1)
            ])
            #expect(try await database.store.view(token(2), in: "Production").current.tier == "pro")
            #expect(try await database.stale().isEmpty)
            // Nothing names the person any more.
            for table in ["accounts", "purchase_bindings", "trials", "staff_acts", "account_status"] {
                let found: Int64 = try await database.value(
                    "select count(*) from storehook.\(unescaped: table) t where t::text like '%person-1%'")
                #expect(found == 0, "\(table)")
            }
            #expect(try await database.pipeline.startTrial(of: account(1)) == .hadOne)
            #expect(try await database.pipeline.erase("nobody", by: "staff") == nil)
        }
    }
}
