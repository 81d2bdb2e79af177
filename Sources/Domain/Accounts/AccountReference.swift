package import Base

/// An account as an operator or a server writes it: its id, or `token:` and its appAccountToken where only that is known.
package enum AccountReference: Sendable, Hashable, CustomStringConvertible {
    /// Its name in the app's own tokens.
    case id(String)
    /// Its appAccountToken.
    case token(UniqueIdentifier)

    private static let prefix = "token:"

    /// Reads `token:` and a UUID as a token, and everything else as an id; nil where it is the nil UUID, which names no account.
    package init?(_ text: String) {
        let token = text.hasPrefix(Self.prefix) ? UniqueIdentifier(text.dropFirst(Self.prefix.count)) : nil
        if let uuid = token ?? UniqueIdentifier(text), uuid.accountToken == nil { return nil }
        self = token.map { .token($0) } ?? .id(text)
    }

    /// As it is read.
    package var description: String {
        switch self {
        case .id(let id): id
        case .token(let token): Self.prefix + token.description
        }
    }

    /// The account under a rule; nil for what is no id under it. A token needs none.
    package func account(by rule: AccountIDRule) -> AccountIdentity? {
        switch self {
        case .id(let id): rule.account(id)
        case .token(let token): AccountIdentity(token: token)
        }
    }
}
