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
    /// Since when it is known.
    package var knownAt: Timestamp
    /// When it was erased.
    package var erasedAt: Timestamp?
}

extension AccountStore {
    /// Those of some accounts that are known, in the order of their tokens.
    /// - Throws: `PostgresError`.
    package func known(_ tokens: Set<UniqueIdentifier>) async throws -> [FoundAccount] {
        try await pool.query(
            PostgresQuery(
                "accounts.known",
                """
                select token, account, known_at, erased_at from storehook.accounts
                 where token = any (\(tokens.map { UUID($0) })) order by token
                """)
        ).map { row in
            FoundAccount(
                token: UniqueIdentifier(try row.decode("token", as: UUID.self)), account: try row.decode("account"),
                knownAt: Timestamp(try row.decode("known_at", as: PostgresTimestamp.self)),
                erasedAt: try row.decode("erased_at", as: PostgresTimestamp?.self).map { Timestamp($0) })
        }
    }
}
