package import Base
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

extension OrderStore {
    /// Has attempts to buy looked at again, in the transaction that changed what may complete them.
    /// - Parameters:
    ///   - owners: the accounts whose purchases changed; they are locked.
    ///   - changes: what was booked: where transactions went, the attempts that they completed are open again.
    /// - Throws: `PostgresError`.
    package func recheckAttempts(
        of owners: Set<UniqueIdentifier>, _ changes: [Change], _ session: borrowing PostgresSession
    ) throws {
        let lost = changes.flatMap { change in
            (change.booked.gone + change.booked.orders.filter { !$0.removed.isEmpty }.map(\.order.key)).map {
                OrderPlace(change.key, $0)
            }
        }
        if !owners.isEmpty { try session.query(.recheck(owners.sorted())) }
        if !lost.isEmpty { try session.query(.recheck(matchedTo: lost)) }
    }
}

extension PostgresQuery {
    fileprivate static func recheck(_ owners: [UniqueIdentifier]) -> PostgresQuery {
        PostgresQuery(
            "orders.recheck",
            "update storehook.booked_attempts set check_at = now() where token = any(\(owners.map { UUID($0) }))"
        ).keepingPlan()
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
