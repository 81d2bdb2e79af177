import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

/// What an app saw of an attempt to buy.
package struct PurchaseAttempt: Sendable, Hashable {
    /// What was attempted.
    package enum Kind: String, Sendable, Hashable, CaseIterable { case purchase, restore }
    /// How it ended.
    package enum Outcome: String, Sendable, Hashable, CaseIterable { case pending, cancelled, failed, completed }

    /// The account.
    package var account: UniqueIdentifier
    /// Apple's id of the product.
    package var productID: String
    /// What was attempted.
    package var kind: Kind
    /// How it ended.
    package var outcome: Outcome
    /// The app's reason.
    package var reason: String?

    /// Memberwise.
    package init(
        account: UniqueIdentifier, productID: String, kind: Kind, outcome: Outcome, reason: String? = nil
    ) {
        self.account = account
        self.productID = productID
        self.kind = kind
        self.outcome = outcome
        self.reason = reason
    }
}

extension AccountStore {
    /// Records what an app saw, for orders and figures; nothing else depends on it.
    package func record(_ attempt: PurchaseAttempt) async throws {
        try await pool.query(
            PostgresQuery(
                "accounts.attempt",
                """
                insert into storehook.purchase_attempts (token, product_id, kind, outcome, reason)
                values (\(UUID(attempt.account)), \(String(attempt.productID.prefix(255))), \(attempt.kind.rawValue),
                        \(attempt.outcome.rawValue), \(attempt.reason.map { String($0.prefix(1000)) }))
                """), durably: true)
    }
}
