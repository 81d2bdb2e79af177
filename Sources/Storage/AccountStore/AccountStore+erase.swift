import Accounts
import AppStorePayloads
import Base
import Foundation
package import Postgres
import PurchaseStore
package import Subscriptions

/// The outcome of erasing an account.
package enum Erasure: Sendable, Hashable {
    /// No such account is known.
    case unknown
    /// A purchase was added after the list was read. Nothing was done: read the list again.
    case outpaced
    /// It was erased, and so many purchases were released.
    case erased(Int)
}

extension AccountStore {
    /// Forgets a person.
    /// - Removed: the name that the app's own tokens have for the account. Staff acts for it no longer count.
    /// - Released: its purchases. The next account that proves one gets it, also where Apple signed it for this account.
    /// - Kept as a hash: the account, so that it has no second trial.
    /// - Kept as evidence: what Apple signed, and the record of who did what.
    /// - Parameters:
    ///   - account: what the app's own tokens call it, or its token.
    ///   - person: who does it.
    ///   - purchases: the account's, read before the transaction: they are locked before the account.
    package func erase(
        _ account: String, holding purchases: [PurchaseKey], by person: String, _ session: borrowing PostgresSession
    ) throws -> AccountChange<Erasure> {
        let token = AccountToken.of(account)
        // Every writer has a transaction ID before it reads the catalog: see apply(_:by:patience:onPage:).
        try session.query(PostgresQuery("accounts.number", "select pg_current_xact_id()::text"))
        try Ledger.hold(purchases, session)
        let isKnown = try !session.query(
            PostgresQuery("accounts.known", "select 1 from storehook.accounts where token = \(UUID(token))")
        ).isEmpty
        guard isKnown else { return AccountChange(.unknown) }
        let moment = try AccountMoment(session)
        // Other accounts that Apple signed into them are derived, too: those signatures no longer count either.
        let concerned = moment.isIdle || purchases.isEmpty ? [] : try link(purchases, session)
        let accounts = Set(concerned).union([token]).sorted()
        try hold(accounts, session)
        guard try Set(lines(of: token, session)).isSubset(of: purchases) else {
            return AccountChange(.outpaced)
        }
        let freed = try standing(purchases, session).filter { $0.owner == token }
        try record(
            freed.flatMap { purchase in
                purchase.everySigned.union([token]).sorted().map {
                    Binding(key: purchase.key, kind: .erasure, token: $0, person: person)
                }
            }, session)
        for statement in Self.forgetting(token) { try session.query(statement) }
        guard !moment.isIdle else { return AccountChange(.erased(freed.count)) }
        // With a new clock: at the earlier instant the purchases are still its own.
        var settled = try settle(accounts, under: AccountMoment(session), session)
        for purchase in freed { settled.formerOwners[purchase.key] = token }
        return AccountChange(.erased(freed.count), settled, of: purchases)
    }

    private static func forgetting(_ token: UniqueIdentifier) -> [PostgresQuery] {
        [
            PostgresQuery(
                "accounts.erase",
                """
                update storehook.accounts
                   set account = null, erased_at = date_trunc('milliseconds', clock_timestamp())
                 where token = \(UUID(token))
                """),
            PostgresQuery(
                "accounts.erase_trial", "update storehook.trials set token = null where token = \(UUID(token))"),
            PostgresQuery(
                "accounts.erase_attempts", "delete from storehook.purchase_attempts where token = \(UUID(token))"),
        ]
    }

    /// The purchases that are or were an account's.
    package func purchases(of account: String) async throws -> [PurchaseKey] {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.erase")) {
            try self.lines(of: AccountToken.of(account), $0)
        }
    }

    private func lines(of token: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> [PurchaseKey] {
        try session.query(
            PostgresQuery(
                "accounts.purchases",
                """
                select environment, bundle_id, original_transaction_id
                  from storehook.account_lines where token = \(UUID(token))
                """)
        ).map {
            PurchaseKey(
                environment: try $0.decode(0), bundleID: try $0.decode(1), originalTransactionID: try $0.decode(2))
        }
    }
}
