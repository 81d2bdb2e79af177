package import Base

/// An account: its appAccountToken, under which it is stored, and its id where that is known.
package struct AccountIdentity: Sendable, Hashable {
    /// The appAccountToken.
    package let token: UniqueIdentifier
    /// The name of the account in the app's own tokens; nil where only the appAccountToken is known.
    package let id: String?
    /// The rule by which the id has this token; nil where only the token is known.
    package let rule: AccountIDRule?

    /// An account without a known id.
    package init(token: UniqueIdentifier) {
        self.token = token
        (id, rule) = (nil, nil)
    }

    init(id: String, token: UniqueIdentifier, rule: AccountIDRule) {
        self.token = token
        self.id = id
        self.rule = rule
    }

    /// Its id, or its token as commands take it (``AccountReference/token(_:)``) where no id is known. No id reads like that.
    package var name: String { id ?? AccountReference.token(token).description }
}
