import AccountStore
import Accounts
import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Subscriptions
import Testing

/// Purchases that only verifyReceipt has told of: neither what they are nor how long they last.
struct UnsignedTests {
    private static func catalog(passDays: Int = 10, forever: String = "period: lifetime") -> String {
        """
        app: \(Shop.app)
        tiers: [{id: free}, {id: pro}, {id: premium}]
        products:
          - {id: forever, product_id: forever, tier: pro, \(forever)}
          - {id: pass, product_id: pass, tier: premium, period: term, lasts: \(passDays)}

        """
    }

    private static func view(_ number: Int, _ database: AccountDatabase) async throws -> AccountView {
        try await database.store.view(token(number), in: "Production")
    }

    @Test func `The catalog says how long they last: for good, or so many days from when they were bought`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await database.apply([
                Purchases.said(purchase(1), "forever", at: -400, account: token(1)),
                Purchases.said(purchase(2), "pass", at: -3, account: token(2)),
                Purchases.said(purchase(3), "pass", at: -11, account: token(3)),
                Purchases.said(purchase(4), "unknown", at: -1, account: token(4)),
            ])
            _ = try await database.store.apply(Self.catalog(), by: "test")

            let forever = try await Self.view(1, database)
            #expect(forever.current.status == .active && forever.current.tier == "pro")
            #expect(forever.accessUntil == nil && forever.current.expiresAt == nil)
            // What a one-time purchase is called follows from the same rule.
            #expect(forever.subscription?.oneTime == .nonRenewing && forever.subscription?.purchaseType == .lifetime)

            let pass = try await Self.view(2, database)
            #expect(pass.current.status == .active && pass.current.tier == "premium" && !pass.current.willRenew)
            #expect(pass.accessUntil == Purchases.now.adding(days: 7) && pass.subscription?.purchaseType == .term)
            let over = try await Self.view(3, database)
            #expect(over.current.status == .expired && over.current.expiresAt == Purchases.now.adding(days: -1))
            #expect(try await Self.view(4, database).current.status == .free)

            // Another catalog, another duration, for what was bought before as well.
            _ = try await database.store.apply(
                Self.catalog(passDays: 20, forever: "period: term, lasts: 30"), by: "test")
            #expect(try await Self.view(1, database).current.status == .expired)
            #expect(try await Self.view(3, database).accessUntil == Purchases.now.adding(days: 9))
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `Once Apple has signed what it is, that counts`() async throws {
        try await AccountDatabase.with { database in
            try await database.apply([Purchases.said(purchase(1), "pass", at: -3, account: token(1))])
            _ = try await database.store.apply(Self.catalog(), by: "test")
            #expect(try await Self.view(1, database).accessUntil == Purchases.now.adding(days: 7))
            try await database.apply([
                Purchases.signedOnce(purchase(1), "pass", .nonConsumable, at: -3, account: token(1))
            ])
            #expect(try await Self.view(1, database).accessUntil == nil)
            #expect(try await Self.view(1, database).subscription?.purchaseType == .lifetime)
            #expect(try await database.stale().isEmpty)
        }
    }
}
