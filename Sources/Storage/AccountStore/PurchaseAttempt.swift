import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

/// What an app saw of an attempt to buy or to restore.
package struct PurchaseAttempt: Sendable, Hashable {
    /// What was attempted.
    package enum Kind: String, Sendable, Hashable, CaseIterable { case purchase, restore }
    /// How it ended. A restore that found nothing to restore ends with `nothing`; a purchase never does.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        case pending, cancelled, failed, completed, nothing
    }

    /// The account.
    package var account: UniqueIdentifier
    /// Apple's id of the product; nil only of a restore, which is of everything that the customer has.
    package var productID: String?
    /// What was attempted.
    package var kind: Kind
    /// How it ended.
    package var outcome: Outcome
    /// The app's reason.
    package var reason: String?
    /// Apple's id of the transaction that it is about, where the app names one.
    package var transactionID: String?
    /// Where it was made, where the app says so: one of ``Environment/known``.
    package var environment: Environment?

    /// Memberwise.
    package init(
        account: UniqueIdentifier, productID: String? = nil, kind: Kind, outcome: Outcome, reason: String? = nil,
        transactionID: String? = nil, environment: Environment? = nil
    ) {
        self.account = account
        self.productID = productID
        self.kind = kind
        self.outcome = outcome
        self.reason = reason
        self.transactionID = transactionID
        self.environment = environment
    }

    /// Whether a text has only what Apple's ids of products and transactions are made of. Apps may write any other text in their place,
    /// names of customers and control characters too, which belong neither into logs nor onto terminals.
    package static func isPlain(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.allSatisfy { plain.contains($0) }
    }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-".utf8)
}

extension AccountStore {
    /// Records what an app saw, for support, orders and figures; nothing else depends on it.
    /// - Throws: ``WriteBudget/Exhausted``; `PostgresError`.
    package func record(_ attempt: PurchaseAttempt) async throws {
        let product = attempt.productID.map { String($0.prefix(255)) }
        let reason = attempt.reason.map { String($0.prefix(1000)) }
        let environment = attempt.environment?.rawValue
        let weight = Int64(WriteWeight.attempt([product, reason, attempt.transactionID, environment]))
        let row = try await pool.query(
            PostgresQuery(
                "accounts.attempt",
                """
                with budget as materialized (
                    select storehook.spend_write_budget(\(UUID(attempt.account)), \(weight)) as is_within
                ), written as (
                    insert into storehook.purchase_attempts
                           (token, product_id, kind, outcome, reason, transaction_id, environment)
                    select \(UUID(attempt.account)), \(product), \(attempt.kind.rawValue), \(attempt.outcome.rawValue),
                           \(reason), \(attempt.transactionID), \(environment)
                      from budget where is_within
                )
                select is_within, now() as clock, \(unescaped: PostgresQuery.durableSettings) from budget
                """), durably: true
        ).one()
        guard try row.decode("is_within", as: Bool.self) else {
            throw WriteBudget.Exhausted(at: try row.decode("clock"))
        }
    }

    /// Deletes attempts that are older than so many days, in portions. Numbers are drawn in the order of time, so that the oldest are
    /// found first.
    /// - Returns: how many.
    package func dropAttempts(keeping days: Int) async throws -> Int64 {
        try await Portions.repeating { portion in
            try await pool.query(
                PostgresQuery(
                    "accounts.drop_attempts",
                    """
                    delete from storehook.purchase_attempts
                     where id = any (array(
                           select first.id
                             from (select a.id, a.at from storehook.purchase_attempts a order by a.id limit \(portion)) first
                            where first.at < now() - make_interval(days => \(Int32(clamping: days)))))
                    """)
            ).affectedRows
        }
    }
}
