package import Accounts
import AppStorePayloads
package import Base

/// The account on whose behalf a request comes.
package struct Caller: Sendable, Hashable {
    /// The account.
    package var account: AccountIdentity
    /// Whether one of the operator's servers asks for it, and not the app.
    package var isServer: Bool
    /// What the app's token says of the account's role; nil where it says nothing, and of a server key.
    package var role: String?

    /// A caller.
    package init(_ account: AccountIdentity, isServer: Bool, role: String? = nil) {
        self.account = account
        self.isServer = isServer
        self.role = role
    }

    /// The account's appAccountToken, which is what it is kept by.
    package var token: UniqueIdentifier { account.token }

    /// What headers, logs and answers call the account: its id, or `token:` and its token where a server named only that.
    package var name: String { account.name }

    /// Whether a text may be an account's id here: 1 to 200 printable ASCII characters, neither the nil UUID nor what names a token.
    ///
    /// Nothing else, because it goes into headers (`X-Storehook-Account` of the guard) and logs.
    package static func isID(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && AccountReference(text) == .id(text)
    }
}
