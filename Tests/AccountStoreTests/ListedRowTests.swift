import AccountStore
import Accounts
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// What one row of a list says, and where it stands.
struct ListedRowTests {
    @Test func `A customer who was only handed a token is named by the lists, by the account and by what finds it`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))
            ])
            try await database.pool.query(
                """
                insert into storehook.account_names (token, account)
                values (\(UUID(token(1))), \(name(1))), (\(UUID(token(2))), \(name(2)))
                """)
            let (store, reader) = (database.store, LedgerReader(database.pool))
            #expect(try await store.list(limit: 10).elements.map(\.account) == [name(1)])
            #expect(try await reader.subscriptions(limit: 10).elements.map(\.account) == [name(1)])
            #expect(try await store.history(of: token(1), in: "Production")?.account == name(1))
            let found = try await store.known([token(1), token(2), token(3)])
            #expect(found.map(\.token) == [token(1), token(2)].sorted())
            #expect(found.first { $0.token == token(1) }.map { $0.account == name(1) && $0.isCustomer } == true)
            #expect(found.first { $0.token == token(2) }.map { $0.account == name(2) && !$0.isCustomer } == true)
            // The id that stands with the account comes first.
            try await database.pool.query(
                "update storehook.accounts set account = 'one' where token = \(UUID(token(1)))")
            #expect(try await store.list(limit: 10).elements.map(\.account) == ["one"])
            #expect(try await store.known([token(1)]).map(\.account) == ["one"])
        }
    }

    @Test func `Subscriptions come in the order of their keys, however PostgreSQL looks up their accounts`()
        async throws
    {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let keys = (1...40).map(purchase)
            try await database.apply(
                keys.indices.map {
                    Purchases.period(keys[$0], "basic", from: -5, to: 25, account: token($0))
                })
            let list = LedgerReader.list(SubscriptionFilter(), after: nil, limit: 50)
            let listed = try await database.pool.withTransaction { session in
                try session.query("set local enable_nestloop = off")
                try session.query("set local enable_hashjoin = off")
                return try session.query(list.elements).map {
                    try $0.decode("original_transaction_id", as: String.self)
                }
            }
            #expect(listed == keys.map(\.originalTransactionID).sorted())
        }
    }
}
