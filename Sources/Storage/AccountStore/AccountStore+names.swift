package import Accounts
import Base
import Foundation
import Postgres

extension AccountStore {
    /// How long an answer waits for an id to be kept.
    private static let namePatience = Duration.milliseconds(500)

    /// Keeps what an app calls an account: one row, written once. Events about the account name it from then on.
    ///
    /// Nothing is written where the rule of ids is being changed, or is not the one by which the id has its token: the next answer tries
    /// again. Nothing is written for a person who was erased: a device that is still signed in goes on asking. Nothing waits for such a
    /// change. Two instances that do this at once write one row.
    /// - Throws: `PostgresError`.
    package func keepName(of account: AccountIdentity) async throws {
        guard let id = account.id, let rule = account.rule else { return }
        try await pool.query(
            PostgresQuery(
                "accounts.keep_name",
                """
                with held as materialized (select rule from storehook.account_ids for key share skip locked)
                insert into storehook.account_names (token, account)
                select \(UUID(account.token)), \(id) from held where held.rule = \(rule.rawValue)
                   and not exists (select from storehook.accounts a
                                    where a.token = \(UUID(account.token)) and a.erased_at is not null)
                    on conflict (token) do nothing
                """
            ).keepingPlan(), deadline: Self.namePatience)
    }
}
