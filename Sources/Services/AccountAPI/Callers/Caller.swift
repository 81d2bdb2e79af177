import Accounts
import AppStorePayloads
package import Base

/// The account on whose behalf a request comes.
package struct Caller: Sendable, Hashable {
    /// The account's appAccountToken, which is what it is kept by.
    package var token: UniqueIdentifier
    /// What the app calls the account.
    package var account: String
    /// Whether one of the operator's servers asks for it, and not the app.
    package var isServer: Bool
    /// What the app's token says of the account's role; nil where it says nothing, and of a server key.
    package var role: String?

    /// A caller.
    package init(account: String, isServer: Bool, role: String? = nil) {
        token = AccountToken.of(account)
        self.account = account
        self.isServer = isServer
        self.role = role
    }

    /// The account that a text names: 1 to 200 printable ASCII characters, a UUID in lower case but not the nil UUID; nil
    /// where it can be none.
    ///
    /// Nothing else, because it goes into headers (`X-Storehook-Account` of the guard) and logs; and because a UUID in two
    /// spellings would be one appAccountToken of two accounts.
    package static func account(_ text: String) -> String? {
        guard (1...200).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        guard AccountToken.names(text) else { return nil }
        return UniqueIdentifier(text)?.description ?? text
    }
}
