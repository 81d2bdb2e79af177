import AccountStore
import Accounts
import AppStorePayloads
package import Base
import Foundation
import OrderStore
import Postgres
package import PurchaseStore
import TestSupport

/// What tests do about attempts to buy.
extension OrderDatabase {
    /// The token of an account by its name.
    package static func token(_ account: String) -> UniqueIdentifier { AccountToken.of(account) }

    /// A report of an app's at an instant.
    /// - Parameter product: nil of a restore that names none.
    package func report(
        _ outcome: String, at instant: Timestamp, of product: String? = "basic", as account: String = "ann",
        kind: String = "purchase", environment: String? = nil, reason: String? = nil
    ) async throws {
        try await pool.query(
            """
            insert into storehook.purchase_attempts (token, product_id, kind, outcome, reason, environment, at)
            values (\(UUID(Self.token(account))), \(product), \(kind), \(outcome), \(reason), \(environment),
                    \(PostgresTimestamp(instant)))
            """)
    }

    /// Books and matches reports, as a clock does before it deals numbers.
    package func match(at instant: Timestamp? = nil) async throws {
        while try await orders.bookAttempts(accounts) > 0 {}
        while try await orders.matchAttempts(at: instant.map(PostgresTimestamp.init)) > 0 {}
        while try await orders.bookRestores(accounts) > 0 {}
    }

    /// What a clock does.
    package func step() async throws {
        try await match()
        try await number()
    }

    /// The attempts with their status, and with the transaction that completes them.
    package func attempts(of account: String? = nil) async throws -> [String] {
        try await texts(
            """
            select concat_ws(' ', coalesce(p.product_id, a.product_id), a.environment,
                             to_char(a.first_at at time zone 'UTC', 'MM-DD HH24:MI'), a.reports, o.status, t.transaction_id)
              from storehook.booked_attempts a
              join storehook.booked_orders o on o.id = a.order_id
              left join storehook.booked_transactions t on (t.order_id, t.item) = (a.matched_order_id, a.matched_item)
              left join storehook.orders p on p.order_key = o.order_key
             where \(account.map { UUID(Self.token($0)) })::uuid is null or a.token = \(account.map { UUID(Self.token($0)) })
             order by a.first_at, a.id
            """)
    }

    /// The numbers of listed orders.
    package func numbers() async throws -> [String] {
        try await texts("select concat_ws(' ', number, order_key, status) from storehook.orders order by day, number")
    }

    /// The database's clock, in whole seconds.
    package func clock() async throws -> Timestamp {
        Timestamp(try await value("select date_trunc('second', now())", as: PostgresTimestamp.self))
    }
}

extension Shop {
    /// A first transaction of an account's subscription.
    package static func bought(
        _ id: String, at start: Timestamp, product: String = "basic", as account: String = "ann"
    ) -> LedgerEntry {
        entry(id, at: start, product: product) { $0.appAccountToken = OrderDatabase.token(account) }
    }
}
