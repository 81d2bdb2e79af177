/// Whose purchases in other environments than Production open something: `STOREHOOK_SANDBOX_ACCESS`.
package enum SandboxAccess: Sendable, Hashable {
    /// These accounts', by what the app calls them.
    case testers(Set<String>)
    /// Everybody's: those who review the app buy in Sandbox.
    case all

    /// Whether an account's do.
    package func includes(_ account: String) -> Bool {
        switch self {
        case .testers(let names): names.contains(account)
        case .all: true
        }
    }
}
