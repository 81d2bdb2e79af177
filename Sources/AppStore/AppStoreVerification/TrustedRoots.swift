import AppStorePayloads
public import Base

/// The trusted roots, each for the environments that it may sign for.
///
/// An operator who trusts a root for what Xcode signs on a developer's machine does not thereby trust it
/// for purchases.
public struct TrustedRoots: Sendable, Hashable {
    /// The roots by environment, each by the SHA-256 of its DER text.
    public var byEnvironment: [Environment: Set<Fingerprint>]

    /// Roots for each environment.
    public init(_ byEnvironment: [Environment: Set<Fingerprint>]) { self.byEnvironment = byEnvironment }

    /// Roots of the App Store: they sign for Production and Sandbox, and for nothing else.
    public init(appStore roots: Set<Fingerprint>) {
        self.init([.production: roots, .sandbox: roots])
    }

    /// Every root that is trusted for any environment.
    public var all: Set<Fingerprint> { byEnvironment.values.reduce(into: []) { $0.formUnion($1) } }

    /// Every root that is trusted for receipts; see ``trustsReceipts(_:for:)``.
    var allForReceipts: Set<Fingerprint> {
        let all = all
        return all.contains(.appleRootG3) ? all.union([.appleRoot]) : all
    }

    /// Whether the root may sign receipts for the environment: those that may sign notifications, and beside Apple Root CA - G3
    /// the older Apple Root CA, which signs the receipts of old apps and nothing else here.
    public func trustsReceipts(_ root: Fingerprint, for environment: Environment) -> Bool {
        trusts(root, for: environment) || root == .appleRoot && trusts(.appleRootG3, for: environment)
    }

    /// Whether the root may sign for the environment.
    public func trusts(_ root: Fingerprint, for environment: Environment) -> Bool {
        byEnvironment[environment]?.contains(root) ?? false
    }
}
