/// The accounts whose purchases outside Production give access: `STOREHOOK_SANDBOX_ACCESS`.
package enum SandboxAccess: Sendable, Hashable {
    /// These accounts, by what the app calls them.
    case testers(Set<String>)
    /// All accounts: app reviewers buy in Sandbox.
    case all

    /// Whether an account's purchases there give access.
    package func includes(_ account: String) -> Bool {
        switch self {
        case .testers(let names): names.contains(account)
        case .all: true
        }
    }
}
