package import AccountStore
import Foundation
import Postgres
package import PurchaseStore
import Subscriptions

extension OrderStore {
    /// Books a page of the purchases that an earlier release stored without orders, or with less about them. One worker at a time does this.
    ///
    /// It locks the page's purchases, as workers do that apply evidence about them: such a worker books its changes after this.
    /// - Returns: the number of purchases that were looked at.
    /// - Throws: `PostgresError`; `UnreadableCatalog` where a newer release applied the catalog.
    package func walk(_ ledger: Ledger, _ accounts: AccountStore, atMost limit: Int = 100) async throws -> Int {
        let options = TransactionOptions(idleTimeout: .seconds(30), goesByIndexes: true, name: "orders.walk")
        return try await pool.withTransaction(options) { session in
            guard let turn = try Self.takesTurn("rebook", session) else { return 0 }
            let last = try turn.decode("original_transaction_id", as: String?.self) == nil ? nil : PurchaseKey(turn)
            let keys = try ledger.purchases(after: last, limit: limit, session)
            try Ledger.hold(keys, session)
            try ledger.completeBilling(of: keys, session)
            try rebook(keys, repair: true, ledger, accounts, session)
            let end = keys.last
            try session.query(
                PostgresQuery(
                    "orders.walked",
                    """
                    update storehook.order_clock
                       set original_transaction_id = coalesce(\(end?.originalTransactionID), original_transaction_id),
                           bundle_id = coalesce(\(end?.bundleID), bundle_id),
                           environment = coalesce(\(end?.environment), environment),
                           finished_at = case when \(keys.count < limit) then now() end
                     where task = 'rebook'
                    """))
            return keys.count
        }
    }
}
