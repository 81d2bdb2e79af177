import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

/// An account that loses its access soon, with nothing to renew it.
package struct ExpiringAccount: Sendable, Hashable {
    /// Its token.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it.
    package var account: String?
    /// Its tier now.
    package var tier: String
    /// Its status now.
    package var status: String
    /// What gives it access now.
    package var source: String
    /// Apple's id of the product, where a purchase gives access.
    package var productID: String?
    /// When its access ends.
    package var accessUntil: Timestamp
    /// Days until then; a day that has begun counts.
    package var daysLeft: Int
}

extension AccountStore {
    /// The accounts that lose their access within some days with nothing to renew it, the earliest first. An index
    /// answers it, whatever the number of accounts.
    /// - Parameters:
    ///   - days: within how many; by default the catalog's `warning_days`.
    ///   - limit: the most accounts to return.
    /// - Throws: ``ActRefusal/noCatalog``, ``UnreadableCatalog``, `PostgresError`.
    package func expiring(
        within days: Int? = nil, in environment: String, limit: Int
    ) async throws -> (days: Int, accounts: [ExpiringAccount]) {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.expiring")) { session in
            guard let catalog = try self.current(session)?.catalog else { throw ActRefusal.noCatalog }
            let days = days ?? catalog.warningDays
            let accounts = try session.query(
                PostgresQuery(
                    "accounts.expiring",
                    """
                    select token, account, tier, status, source, product_id, access_until, days_left
                      from storehook.expiring_soon(make_interval(hours => \(Int32(clamping: days * 24))))
                     where environment = \(environment)
                     limit \(Int64(limit))
                    """)
            ).map { row in
                ExpiringAccount(
                    token: UniqueIdentifier(try row.decode("token", as: UUID.self)),
                    account: try row.decode("account"), tier: try row.decode("tier"),
                    status: try row.decode("status"), source: try row.decode("source"),
                    productID: try row.decode("product_id"),
                    accessUntil: Timestamp(try row.decode("access_until", as: PostgresTimestamp.self)),
                    daysLeft: Int(try row.decode("days_left", as: Int32.self)))
            }
            return (days, accounts)
        }
    }
}
