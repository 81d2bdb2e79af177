import AccountStore
import Accounts
import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// Since when an account's purchases are known, changed and cancelled, as readers are told.
struct SinceWhenTests {
    private func stored(_ entry: LedgerEntry, days: Int64) -> LedgerEntry {
        LedgerEntry(entry, outboxID: entry.outboxID, receivedAt: PostgresTimestamp(Purchases.now.adding(days: days)))
    }

    private func view(_ database: AccountDatabase, days: Int64) async throws -> AccountView {
        let views = try await database.store.views(
            [.init(token(1), in: "Production")], at: Purchases.now.adding(days: days))
        return try #require(views.first)
    }

    @Test func `Since when a purchase was cancelled stays when it has ended`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            var off = Purchases.renewal(purchase(1), "basic", to: "basic", signed: -30, account: token(1))
            off.autoRenewStatus = .off
            try await database.apply([
                stored(Purchases.period(purchase(1), "basic", from: -40, to: -10, account: token(1)), days: -39),
                stored(
                    Purchases.period(
                        purchase(1), "basic", from: -40, to: -10, account: token(1), signed: -30, renewal: off),
                    days: -29),
            ])
            let before = try await view(database, days: -35)
            #expect(before.subscription?.status == .active && before.subscription?.cancelledAt == nil)
            let cancelled = try await view(database, days: -20)
            #expect(cancelled.subscription?.status == .cancelled)
            #expect(cancelled.subscription?.cancelledAt == Purchases.now.adding(days: -30))
            let ended = try await view(database, days: -1)
            #expect(ended.subscription?.status == .expired && ended.current.status == .expired)
            #expect(ended.subscription?.cancelledAt == Purchases.now.adding(days: -30))

            // Evidence first, then time.
            #expect(cancelled.createdAt == Purchases.now.adding(days: -39))
            #expect(cancelled.updatedAt == Purchases.now.adding(days: -29))
            #expect(ended.createdAt == Purchases.now.adding(days: -39))
            #expect(ended.updatedAt == Purchases.now.adding(days: -10))
            #expect(ended.subscription?.updatedAt == Purchases.now.adding(days: -10))
        }
    }

    @Test func `What ended without being cancelled was not cancelled, and what was refunded was taken back then`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -40, to: -10, account: token(1)),
                Purchases.period(purchase(2), "plus", from: -40, to: -10, account: token(1)),
                Purchases.period(purchase(2), "plus", from: -40, to: -10, account: token(1), revoked: -20),
            ])
            let purchases = try await view(database, days: -1).purchases
            let dates = Dictionary(uniqueKeysWithValues: purchases.map { ($0.key, $0.cancelledAt) })
            #expect(dates[purchase(1)] == .some(nil))
            #expect(dates[purchase(2)] == Purchases.now.adding(days: -20))
        }
    }

    @Test func `Without a purchase nothing is said`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let free = try await view(database, days: 0)
            #expect(free.createdAt == nil && free.updatedAt == nil)
        }
    }
}
