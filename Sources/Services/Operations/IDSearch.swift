package import AccountStore
import Accounts
package import Base
package import Postgres
package import PurchaseStore

/// What a text is, of all accounts and purchases that are stored: each way by an index.
package struct IDSearch: Sendable {
    /// What a text leads to.
    package struct Found: Sendable, Hashable {
        /// The accounts that are known.
        package var accounts: [FoundAccount] = []
        /// The account that the text is the id of, by the rule of ids.
        package var named: UniqueIdentifier?
        /// The appAccountToken that the text is.
        package var token: UniqueIdentifier?
        /// The tokens that the text is the beginning of.
        package var beginning: ClosedRange<UniqueIdentifier>?
        /// Whether there may be more accounts whose tokens begin so.
        package var isMore = false
        /// The purchases into which Apple signed that token, where it is no known customer's, and those that a number leads to.
        package var purchases: [FoundPurchase] = []
        /// Whether the rule of ids stands: else no account was looked for by its id.
        package var knowsIDs = false

        /// Whether an account is found by its id, and whether by its token.
        package func ways(to account: FoundAccount, from text: String) -> (byID: Bool, byToken: Bool) {
            let byToken = account.token == token || beginning?.contains(account.token) == true
            return (account.token == named && (account.account == text || !byToken), byToken)
        }
    }

    private let pool: PostgresPool

    /// A search behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The most accounts whose tokens begin with a text.
    private static let mostBeginning = 100

    /// Looks for an account's id, an appAccountToken or the first eight digits of one, a transaction, an original transaction, or an order line.
    /// - Throws: `PostgresError`.
    package func find(_ text: String) async throws -> Found {
        guard !text.utf8.contains(0) else { return Found() }
        let reader = LedgerReader(pool)
        let reference = AccountReference(text)
        var found = Found()
        found.token = UniqueIdentifier(text)?.accountToken
        if case .token(let token) = reference { found.token = token.accountToken }
        // Who only looks names no rule.
        let rule = try await AccountIDs(pool).standing().rule
        found.knowsIDs = rule != nil
        found.named = rule.flatMap { reference?.account(by: $0)?.token }
        let accounts = AccountStore(pool)
        var tokens = Set([found.named, found.token].compactMap(\.self))
        if let range = TokenBeginning.range(of: text) {
            let begun = try await accounts.tokens(in: range, limit: Self.mostBeginning)
            (found.beginning, found.isMore) = (range, begun.count == Self.mostBeginning)
            tokens.formUnion(begun)
        }
        found.accounts = try await accounts.known(tokens)
        // Before a catalog is applied there are no customers, but purchases with tokens.
        if let token = found.token, !found.accounts.contains(where: { $0.token == token && $0.isCustomer }) {
            found.purchases = try await reader.purchases(signedFor: token)
        }
        found.purchases += try await reader.purchases(numbered: text)
        return found
    }
}
