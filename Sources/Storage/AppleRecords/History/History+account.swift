import AppStorePayloads
package import Base
import Foundation
import Postgres
package import Subscriptions

extension History {
    /// The purchases that name an account's appAccountToken, by the phases and rows at hand, and those that were ever
    /// bound to the account: what is paid for longest first.
    ///
    /// Index look-ups only, for any number of purchases. A subscription that moved to another account long ago counts
    /// as that account's.
    package func purchases(of account: UniqueIdentifier, limit: Int) async throws -> [PurchaseKey] {
        let token = UUID(uuidString: "\(account)")
        return try await pool.query(
            PostgresQuery(
                "history.purchases_of_account",
                """
                select environment, bundle_id, original_transaction_id
                  from (select environment, bundle_id, original_transaction_id, paid_until as at
                          from storehook.subscriptions where app_account_token = \(token)
                        union all
                        select environment, bundle_id, original_transaction_id, paid_until
                          from storehook.subscriptions where former_account_token = \(token)
                        union all
                        select environment, bundle_id, original_transaction_id, purchased_at
                          from storehook.one_time_purchases where app_account_token = \(token)
                        union all
                        select environment, bundle_id, original_transaction_id,
                               coalesce(s.paid_until, o.purchased_at, '-infinity')
                          from storehook.account_lines l
                          left join storehook.subscriptions s
                                using (original_transaction_id, bundle_id, environment)
                          left join storehook.one_time_purchases o
                                using (original_transaction_id, bundle_id, environment)
                         where l.token = \(token)) held
                 group by environment, bundle_id, original_transaction_id
                 order by max(at) desc, environment, bundle_id, original_transaction_id
                 limit \(limit)
                """)
        ).map {
            PurchaseKey(
                environment: try $0.decode(0), bundleID: try $0.decode(1), originalTransactionID: try $0.decode(2))
        }
    }
}
