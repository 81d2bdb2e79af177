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

/// Where an account has, or had, a purchase.
package struct AccountPlace: Sendable, Hashable {
    /// The environment.
    package var environment: String
    /// The app.
    package var bundleID: String
}

extension AccountStore {
    /// The most places that ``places(of:)`` returns.
    private static let mostPlaces: Int64 = 10_000

    /// Where some accounts have, or had, a purchase that Apple signed for them or that anything binds to them.
    /// - Throws: `PostgresError`.
    package func places(of tokens: [UniqueIdentifier]) async throws -> [UniqueIdentifier: [AccountPlace]] {
        guard !tokens.isEmpty else { return [:] }
        return try await pool.query(
            PostgresQuery(
                "accounts.places",
                """
                select distinct l.token, l.environment, l.bundle_id from storehook.account_lines l
                 where l.token = any(\(tokens.map { UUID($0) })) order by 1, 2, 3 limit \(Self.mostPlaces)
                """)
        ).reduce(into: [:]) { places, row in
            let place = AccountPlace(
                environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"))
            places[UniqueIdentifier(try row.decode("token", as: UUID.self)), default: []].append(place)
        }
    }

    /// The accounts that are known and whose tokens lie in a range, in the order of their tokens.
    /// - Throws: `PostgresError`.
    package func tokens(in range: ClosedRange<UniqueIdentifier>, limit: Int) async throws -> [UniqueIdentifier] {
        let (first, last) = (UUID(range.lowerBound), UUID(range.upperBound))
        return try await pool.query(
            PostgresQuery(
                "accounts.tokens_in_range",
                """
                (select token from storehook.accounts where token between \(first) and \(last) order by token limit \(Int64(limit)))
                union
                (select token from storehook.account_names where token between \(first) and \(last) order by token limit \(Int64(limit)))
                 order by token limit \(Int64(limit))
                """)
        ).map { UniqueIdentifier(try $0.decode("token", as: UUID.self)) }
    }

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
