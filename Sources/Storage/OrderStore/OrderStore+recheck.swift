package import Base
import Foundation
package import Postgres
package import Subscriptions

extension OrderStore {
    /// Marks attempts to buy that workers look at again, in the transaction that changed purchases. These are the attempts that a changed
    /// transaction may complete, by its account, product and date, and all attempts of accounts that got purchases.
    /// - Parameters:
    ///   - owners: the accounts of the purchases that changed; they are locked.
    ///   - winners: the accounts that got purchases; they are locked.
    ///   - changes: what was booked: attempts of transactions that went away are open again.
    /// - Throws: `PostgresError`.
    package func recheckAttempts(
        after changes: [Change], of owners: [PurchaseKey: UniqueIdentifier], and winners: Set<UniqueIdentifier>,
        _ session: borrowing PostgresSession
    ) throws {
        let sales = changes.flatMap { change in
            owners[change.key].map { owner in
                change.booked.orders.flatMap(\.changed).compactMap { transaction in
                    transaction.productID.map {
                        RecheckedSale(
                            token: UUID(owner), environment: change.key.environment, productID: $0,
                            at: PostgresTimestamp(transaction.startsAt))
                    }
                }
            } ?? []
        }
        let lost = changes.flatMap { change in
            (change.booked.gone + change.booked.orders.filter { !$0.removed.isEmpty }.map(\.order.key)).map {
                OrderPlace(change.key, $0)
            }
        }
        if !sales.isEmpty { try session.query(.recheck(sales)) }
        if !winners.isEmpty { try session.query(.recheck(winners.sorted())) }
        if !lost.isEmpty { try session.query(.recheck(matchedTo: lost)) }
    }
}

/// A transaction that may complete attempts.
private struct RecheckedSale {
    let token: UUID
    let environment: String
    let productID: String
    let at: PostgresTimestamp
}

extension PostgresQuery {
    /// A little more than a day wider than the windows of ``/Subscriptions/AttemptMatching``, which decides.
    fileprivate static func recheck(_ sales: [RecheckedSale]) -> PostgresQuery {
        PostgresQuery(
            "orders.recheck",
            """
            update storehook.booked_attempts a set check_at = now()
              from unnest(\(sales.map(\.token)), \(sales.map(\.environment)), \(sales.map(\.productID)), \(sales.map(\.at)))
                   as sale (token, environment, product_id, at)
             where (a.token, a.product_id, a.environment) = (sale.token, sale.product_id, sale.environment)
               and a.first_at <= sale.at + interval '1 day' and a.last_at >= sale.at - interval '8 days'
            """
        ).keepingPlan()
    }

    fileprivate static func recheck(_ winners: [UniqueIdentifier]) -> PostgresQuery {
        PostgresQuery(
            "orders.recheck_all",
            "update storehook.booked_attempts set check_at = now() where token = any(\(winners.map { UUID($0) }))"
        )
    }

    fileprivate static func recheck(matchedTo places: [OrderPlace]) -> PostgresQuery {
        PostgresQuery(
            "orders.recheck_matched",
            """
            update storehook.booked_attempts a set check_at = now()
              from unnest(\(places.map(\.environment)), \(places.map(\.bundleID)), \(places.map(\.key)))
                   as place (environment, bundle_id, order_key)
              join storehook.booked_orders o using (environment, bundle_id, order_key)
             where a.matched_order_id = o.id
            """)
    }
}
