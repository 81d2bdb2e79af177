import AppStorePayloads
package import Base
import Foundation
import Postgres
package import Subscriptions

/// A purchase that a number leads to.
package struct FoundPurchase: Sendable, Hashable {
    /// What the number is.
    package enum Number: String, Sendable, Hashable, CaseIterable {
        /// The original transaction of the purchase.
        case purchase
        /// A transaction of it.
        case transaction
        /// The order line of a period of it (webOrderLineItemId).
        case order
        /// The appAccountToken that Apple signed into it.
        case token
    }

    /// What the number is.
    package var number: Number
    /// The purchase.
    package var key: PurchaseKey
    /// The transaction, of a transaction or an order.
    package var transactionID: String?
    /// Apple's id of what was bought, likewise.
    package var productID: String?
    /// When it was bought, likewise.
    package var purchasedAt: Timestamp?
}

extension LedgerReader {
    /// The purchases that a number of Apple's leads to: an original transaction, a transaction, or an order line. Each is looked up in an
    /// index, whatever the number of purchases; at most 100 of each kind.
    /// - Throws: `PostgresError`.
    package func purchases(numbered text: String) async throws -> [FoundPurchase] {
        try await found(
            PostgresQuery(
                "ledger.find",
                """
                (select 'purchase' as number, l.environment, l.bundle_id, l.original_transaction_id,
                        null as transaction_id, null as product_id, null::timestamptz as purchased_at
                   from storehook.purchase_lines l where l.original_transaction_id = \(text)
                  order by l.bundle_id, l.environment limit 100)
                union all
                (select 'transaction', t.environment, t.bundle_id, t.original_transaction_id,
                        t.transaction_id, t.product_id, t.purchased_at
                   from storehook.transactions t where t.transaction_id = \(text)
                  order by t.bundle_id, t.environment limit 100)
                union all
                (select 'transaction', h.environment, h.bundle_id, h.original_transaction_id, h.transaction_id, null, null
                   from storehook.shared_transactions h
                  where h.transaction_id = \(text)
                    and not exists (select from storehook.transactions t
                                     where t.transaction_id = h.transaction_id and t.bundle_id = h.bundle_id
                                       and t.environment = h.environment
                                       and t.original_transaction_id = h.original_transaction_id)
                  order by h.original_transaction_id, h.bundle_id, h.environment limit 100)
                union all
                (select 'order', t.environment, t.bundle_id, t.original_transaction_id,
                        t.transaction_id, t.product_id, t.purchased_at
                   from storehook.transactions t where t.web_order_line_item_id = \(text)
                  order by t.bundle_id, t.environment, t.transaction_id limit 100)
                """))
    }

    /// The purchases into which Apple signed a token, and that anything binds to it; at most 100 of each kind.
    /// - Throws: `PostgresError`.
    package func purchases(signedFor token: UniqueIdentifier) async throws -> [FoundPurchase] {
        let token = UUID(token)
        return try await found(
            PostgresQuery(
                "ledger.find_token",
                """
                select distinct 'token' as number, p.*, null as transaction_id, null as product_id,
                       null::timestamptz as purchased_at
                  from ((select environment, bundle_id, original_transaction_id from storehook.subscriptions
                          where app_account_token = \(token) limit 100)
                        union all
                        (select environment, bundle_id, original_transaction_id from storehook.subscriptions
                          where former_account_token = \(token) limit 100)
                        union all
                        (select environment, bundle_id, original_transaction_id from storehook.one_time_purchases
                          where app_account_token = \(token) limit 100)
                        union all
                        (select environment, bundle_id, original_transaction_id from storehook.account_lines
                          where token = \(token) limit 100)) p
                 order by 4, 3, 2 limit 100
                """))
    }

    private func found(_ query: PostgresQuery) async throws -> [FoundPurchase] {
        try await pool.withTransaction(
            TransactionOptions(isReadOnly: true, goesByIndexes: true, name: "ledger.find")
        ) { session in
            try session.query(query).map { row in
                FoundPurchase(
                    number: try row.decode("number", among: FoundPurchase.Number.self), key: try PurchaseKey(row),
                    transactionID: try row.decode("transaction_id"), productID: try row.decode("product_id"),
                    purchasedAt: try row.decode("purchased_at", as: PostgresTimestamp?.self).map(Timestamp.init))
            }
        }
    }
}
