package import Accounts
package import Base

/// Tests name accounts by ids under the rule that a new database has.
extension AccountIdentity: ExpressibleByStringInterpolation {
    package init(stringLiteral id: String) { self.init(named: id) }

    /// The account of an id.
    package init(named id: String) {
        guard let account = AccountIDRule.auto.account(id) else { preconditionFailure("\(id) is no id") }
        self = account
    }
}

extension AccountToken {
    /// The token of an id.
    package static func of(_ id: String) -> UniqueIdentifier { AccountIdentity(named: id).token }
}
