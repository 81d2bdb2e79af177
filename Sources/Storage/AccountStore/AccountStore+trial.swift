package import Accounts
import AppStorePayloads
import Base
import Crypto
import Events
import Foundation
package import Postgres
import PurchaseStore

/// The outcome of asking for the app's own trial.
package enum TrialOutcome: Sendable, Hashable {
    /// It has begun.
    case started(StartedTrial)
    /// The account has had its trial, or the download has: each has one for ever.
    case hadOne
    /// The catalog has no trial, or none with this product.
    case notOffered
}

extension AccountStore {
    /// Starts the app's own trial of an account: once ever for the account, and once ever for a download of the app,
    /// where the app proves one. Of concurrent calls one starts it, and the account is derived in the same
    /// transaction. Whether the account is eligible otherwise is up to the caller.
    /// - Parameters:
    ///   - product: the short id of the product that it is started with; nil for none.
    ///   - appTransactionID: Apple's name of the customer's download, out of a verified record.
    package func startTrial(
        of account: AccountIdentity, with product: String? = nil, appTransactionID: String? = nil,
        _ session: borrowing PostgresSession
    ) throws -> AccountChange<TrialOutcome> {
        let token = account.token
        try account.holdRule(session)
        try hold([token], naming: account, session)
        let moment = try AccountMoment(session)
        guard let version = moment.current else { return AccountChange(.notOffered) }
        let current = try catalog(version, session)
        guard let trial = current.trial, product.map({ trial.products.contains($0) }) ?? true else {
            return AccountChange(.notOffered)
        }
        let startedAt = Timestamp(moment.clock)
        let started = StartedTrial(
            tier: trial.tier, product: product, startedAt: startedAt,
            endsAt: startedAt.adding(days: Int64(trial.days)))
        // For figures, which a later catalog does not change.
        let sold = product.flatMap { current.product(id: $0) }
        let apps = Set(current.products.map(\.bundleID))
        let app = sold?.bundleID ?? (apps.count == 1 ? apps.first : nil) ?? ""
        // A concurrent insert of the same hash waits for this transaction, and then finds the row.
        let isFirst = try !session.query(
            PostgresQuery(
                "accounts.start_trial",
                """
                insert into storehook.trials
                       (account_hash, app_transaction_hash, token, tier, product, started_at, ends_at, bundle_id, product_id)
                values (\(Self.hash(token.description)), \(appTransactionID.map(Self.hash)), \(UUID(token)),
                        \(started.tier), \(started.product), \(PostgresTimestamp(started.startedAt)),
                        \(PostgresTimestamp(started.endsAt)), \(app), \(sold?.productID))
                    on conflict do nothing
                returning token
                """)
        ).isEmpty
        guard isFirst else { return AccountChange(.hadOne) }
        return AccountChange(.started(started), try settle([token], under: moment, session), cause: .trial)
    }

    /// Whether an account, or a download of the app, has had its trial.
    package func hadTrial(_ account: AccountIdentity, appTransactionID: String? = nil) async throws -> Bool {
        try await !pool.query(
            PostgresQuery(
                "accounts.had_trial",
                """
                select 1 from storehook.trials
                 where account_hash = \(Self.hash(account.token.description))
                    or app_transaction_hash = \(appTransactionID.map(Self.hash))
                """)
        ).isEmpty
    }

    /// What is kept for ever of an account or download that has had a trial.
    static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
