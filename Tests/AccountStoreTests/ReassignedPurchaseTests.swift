import AccountStore
import Accounts
import Base
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// What Apple signed under one original transaction first, and under another later.
@Suite("A purchase for good whose transaction turns up under another original transaction")
struct ReassignedPurchaseTests {
    private static let (former, current) = (purchase(1), purchase(2))

    /// Bought for one account, and signed again later as another purchase's, for another account.
    private static let first = Purchases.forever(former, at: -10, account: token(1))
    private static let later = Purchases.forever(
        current, at: -10, account: token(2), id: former.originalTransactionID, signed: -5)

    /// The purchases that backends read.
    private func entitled(_ database: AccountDatabase) async throws -> [String] {
        try await database.pool.query("select original_transaction_id from storehook.entitlements order by 1")
            .map { try $0.decode(0) }
    }

    private func hasAccess(_ database: AccountDatabase, _ number: Int) async throws -> Bool {
        try await database.value("select storehook.has_access_of(\(name(number)), 'forever')")
    }

    /// What differs in the rows of both purchases from what their evidence says.
    private func differences(_ database: AccountDatabase, repair: Bool = false) async throws -> [String] {
        let ledger = database.ledger
        let found = try await database.pool.withTransaction { session in
            try ledger.rederive([Self.former, Self.current], repair: repair, session) { references, _ in
                references.map { .verified($0.outboxID == Self.first.outboxID ? Self.first : Self.later) }
            }
        }
        return found.differences.map { "\($0.table) \($0.key) \($0.column)" }
    }

    @Test(
        "is that one's alone, in either order and at once: one entitlement, one account with access, and a rebuild finds nothing",
        arguments: [[[first], [later]], [[later], [first]], [[first, later]]], [true, false])
    func reassigned(_ batches: [[LedgerEntry]], hasCatalog: Bool) async throws {
        try await AccountDatabase.with { database in
            if hasCatalog { _ = try await database.store.apply(Shop.catalog(), by: "test") }
            for batch in batches { try await database.apply(batch) }
            #expect(try await entitled(database) == [Self.current.originalTransactionID])
            #expect(try await hasAccess(database, 2))
            #expect(try await !hasAccess(database, 1))
            #expect(try await differences(database) == [])
            if hasCatalog { #expect(try await database.stale().isEmpty) }
        }
    }

    @Test("that an earlier release left standing is found by a rebuild, and mended")
    func leftStanding() async throws {
        try await AccountDatabase.with { database in
            try await database.apply([Self.first])
            try await database.pool.query(
                "create table left_standing as select * from storehook.one_time_purchases")
            try await database.apply([Self.later])
            try await database.pool.query(
                """
                insert into storehook.one_time_purchases select * from left_standing
                    on conflict (original_transaction_id, bundle_id, environment) do nothing
                """)
            #expect(try await entitled(database).count == 2)
            #expect(try await !differences(database).isEmpty)
            #expect(try await !differences(database, repair: true).isEmpty)
            #expect(try await entitled(database) == [Self.current.originalTransactionID])
            #expect(try await differences(database) == [])
        }
    }

    @Test("and so is what a receipt says was bought once, where what Apple signed says that it is a subscription")
    func subscription() async throws {
        try await AccountDatabase.with { database in
            let id = Self.former.originalTransactionID
            try await database.apply([Purchases.said(Self.former, "basic", at: -10, account: token(1))])
            #expect(try await database.value("select count(*) from storehook.one_time_purchases", as: Int64.self) == 1)
            try await database.apply([
                Purchases.period(Self.former, "basic", from: -10, to: 20, account: token(1), id: id)
            ])
            #expect(try await database.value("select count(*) from storehook.one_time_purchases", as: Int64.self) == 0)
            #expect(try await database.value("select count(*) from storehook.subscriptions", as: Int64.self) == 1)
        }
    }
}
