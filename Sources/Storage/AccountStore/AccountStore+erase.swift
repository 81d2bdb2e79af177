import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// Forgets a person.
    /// - Removed: the name that the app's own tokens have for the account. Staff acts for it no longer count.
    /// - Released: its purchases. The next account that proves one gets it, also where Apple signed it for this account.
    /// - Kept as a hash: the account, so that it has no second trial.
    /// - Kept as evidence: what Apple signed, and the record of who did what.
    /// - Parameters:
    ///   - account: what the app's own tokens call it, or its token.
    ///   - person: who does it.
    /// - Returns: how many purchases were freed; nil where no such account is known.
    package func erase(_ account: String, by person: String) async throws -> Int? {
        let token = AccountToken.of(account)
        while true {
            let purchases = try await lines(of: token)
            let done = try await pool.withTransaction(Self.holding("accounts.erase")) {
                try self.erase(token, purchases, by: person, $0)
            }
            switch done {
            case .unknown: return nil
            // A purchase was added after the list was read. Purchases are locked before accounts, so start again.
            case .outpaced: continue
            case .erased(let freed, let changed):
                announce(changed)
                return freed
            }
        }
    }

    private enum Erasure: Sendable {
        case unknown
        case outpaced
        case erased(Int, [UniqueIdentifier])
    }

    private func erase(
        _ token: UniqueIdentifier, _ purchases: [PurchaseKey], by person: String, _ session: borrowing PostgresSession
    ) throws -> Erasure {
        // Every writer has a transaction ID before it reads the catalog: see apply(_:by:patience:onPage:).
        try session.query(PostgresQuery("accounts.number", "select pg_current_xact_id()::text"))
        try Ledger.hold(purchases, session)
        let isKnown = try !session.query(
            PostgresQuery("accounts.known", "select 1 from storehook.accounts where token = \(UUID(token))")
        ).isEmpty
        guard isKnown else { return .unknown }
        let moment = try AccountMoment(session)
        // Other accounts that Apple signed into them are derived, too: those signatures no longer count either.
        let concerned = moment.isIdle || purchases.isEmpty ? [] : try link(purchases, session)
        let accounts = Set(concerned).union([token]).sorted()
        try hold(accounts, session)
        guard try Set(lines(of: token, session)).isSubset(of: purchases) else { return .outpaced }
        let freed = try standing(purchases, session).filter { $0.owner == token }
        try record(
            freed.flatMap { purchase in
                purchase.everySigned.union([token]).sorted().map {
                    Binding(key: purchase.key, kind: .erasure, token: $0, person: person)
                }
            }, session)
        for statement in Self.forgetting(token) { try session.query(statement) }
        guard !moment.isIdle else { return .erased(freed.count, []) }
        // With a new clock: at the earlier instant the purchases are still its own.
        var settled = try settle(accounts, under: AccountMoment(session), session)
        for purchase in freed { settled.formerOwners[purchase.key] = token }
        try witness?.witness(settled, of: purchases, cause: .staff, session)
        return .erased(freed.count, settled.changed)
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

    private func lines(of token: UniqueIdentifier) async throws -> [PurchaseKey] {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.erase")) {
            try self.lines(of: token, $0)
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
