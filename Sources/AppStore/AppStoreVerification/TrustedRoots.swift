public import AppStorePayloads

/// The roots that are trusted, each for the environments that it may sign for.
///
/// Who trusts a root of their own for what Xcode signs on a developer's machine has not thereby trusted it for purchases.
public struct TrustedRoots: Sendable, Hashable {
    /// The roots by environment, each by the SHA-256 of its DER text.
    public var byEnvironment: [Environment: Set<Fingerprint>]

    /// Roots for each environment.
    public init(_ byEnvironment: [Environment: Set<Fingerprint>]) { self.byEnvironment = byEnvironment }

    /// Roots of the App Store: they sign for Production and Sandbox, and for nothing else.
    public init(appStore roots: Set<Fingerprint>) {
        self.init([.production: roots, .sandbox: roots])
    }

    /// Every root that is trusted for anything.
    public var all: Set<Fingerprint> { byEnvironment.values.reduce(into: []) { $0.formUnion($1) } }

    /// Whether the root may sign for the environment.
    public func trusts(_ root: Fingerprint, for environment: Environment) -> Bool {
        byEnvironment[environment]?.contains(root) ?? false
    }
}
