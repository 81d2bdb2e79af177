package import Accounts
import Base

/// The accounts whose purchases outside Production give access: `STOREHOOK_SANDBOX_ACCESS`.
package enum SandboxAccess: Sendable, Hashable {
    /// These accounts.
    case testers(Testers)
    /// All accounts: app reviewers buy in Sandbox.
    case all

    /// Accounts by their ids.
    package struct Testers: Sendable, Hashable, ExpressibleByArrayLiteral {
        private let tokens: [AccountIDRule: Set<UniqueIdentifier>]
        /// How many ids there are.
        package let count: Int

        /// Accounts of these ids.
        package init(_ ids: some Collection<String>) {
            count = Set(ids).count
            tokens = Dictionary(
                uniqueKeysWithValues: AccountIDRule.allCases.map { rule in
                    (rule, Set(ids.compactMap { rule.account($0)?.token }))
                })
        }

        package init(arrayLiteral ids: String...) { self.init(ids) }

        fileprivate func includes(_ account: AccountIdentity) -> Bool {
            guard let rule = account.rule else {
                // A server named it by its token, and servers may ask for every environment.
                return tokens.values.contains { $0.contains(account.token) }
            }
            return tokens[rule]?.contains(account.token) ?? false
        }
    }

    /// Whether an account's purchases there give access.
    package func includes(_ account: AccountIdentity) -> Bool {
        switch self {
        case .testers(let testers): testers.includes(account)
        case .all: true
        }
    }
}
