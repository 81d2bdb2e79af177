package import Base

/// An account: its appAccountToken, which is what it is kept by, and its id where that is known.
package struct AccountIdentity: Sendable, Hashable {
    /// The appAccountToken.
    package let token: UniqueIdentifier
    /// What the app's own tokens call it; nil where only the token is known.
    package let id: String?
    /// The rule by which the id has this token; nil where only the token is known.
    package let rule: AccountIDRule?

    /// An account of which only the token is known.
    package init(token: UniqueIdentifier) {
        self.token = token
        (id, rule) = (nil, nil)
    }

    init(id: String, token: UniqueIdentifier, rule: AccountIDRule) {
        self.token = token
        self.id = id
        self.rule = rule
    }

    /// Its id; where only the token is known, that as commands take it (``AccountReference/token(_:)``), which is no id of anybody.
    package var name: String { id ?? AccountReference.token(token).description }
}
