import Accounts
package import Base
import Foundation
import Postgres
import PurchaseStore

/// An account that is known.
package struct FoundAccount: Sendable, Hashable {
    /// Its token.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it; nil where none has named it, or it was erased.
    package var account: String?
    /// Whether more is known of it than that it was handed its token.
    package var isCustomer: Bool
    /// Since when it is known.
    package var knownAt: Timestamp
    /// When it was erased.
    package var erasedAt: Timestamp?
}

extension AccountStore {
    /// Those of some accounts that are known, those that were only handed their tokens included, in the order of their tokens.
    /// - Throws: `PostgresError`.
    package func known(_ tokens: Set<UniqueIdentifier>) async throws -> [FoundAccount] {
        let tokens = tokens.map { UUID($0) }
        return try await pool.query(
            PostgresQuery(
                "accounts.find",
                """
                select a.token, \(unescaped: AccountName.column(token: "a.token")), true as is_customer, a.known_at, a.erased_at
                  from storehook.accounts a where a.token = any (\(tokens))
                union all
                select n.token, n.account, false, n.named_at, null from storehook.account_names n
                 where n.token = any (\(tokens)) and not exists (select from storehook.accounts a where a.token = n.token)
                 order by token
                """)
        ).map { row in
            FoundAccount(
                token: UniqueIdentifier(try row.decode("token", as: UUID.self)), account: try row.decode("account"),
                isCustomer: try row.decode("is_customer"),
                knownAt: Timestamp(try row.decode("known_at", as: PostgresTimestamp.self)),
                erasedAt: try row.decode("erased_at", as: PostgresTimestamp?.self).map { Timestamp($0) })
        }
    }
}
