import AppStorePayloads
public import Base

/// What a verifier trusts and serves.
public struct VerifierConfiguration: Sendable, Hashable {
    /// The apps served: bundle identifier, and the App Apple ID that Production needs.
    public var apps: [String: Int64?]
    /// The environments served. Any other is refused, however well signed.
    public var environments: Set<Environment>
    /// The trusted roots, and for which environments.
    public var trustedRoots: TrustedRoots
    /// The greatest age of a posted notification, by its environment; without an entry any age is accepted.
    ///
    /// Certificates are checked at the payload's own date, so an old notification stays valid; set this to
    /// refuse replays.
    public var maximumAges: [Environment: Duration]

    /// How far ahead of the clock a signature may be dated: clocks differ, Apple's by seconds so far.
    ///
    /// Later signatures supersede earlier ones, so a date in the future would overrule everything that Apple signs
    /// until then.
    public static let maximumLead: Duration = .seconds(300)

    /// Creates a configuration; by default Production and Sandbox under Apple Root CA - G3.
    public init(
        apps: [String: Int64?],
        environments: Set<Environment> = [.production, .sandbox],
        trustedRoots: TrustedRoots = TrustedRoots(appStore: [.appleRootG3]),
        maximumAges: [Environment: Duration] = [:]
    ) {
        self.apps = apps
        self.environments = environments
        self.trustedRoots = trustedRoots
        self.maximumAges = maximumAges
    }

    /// Creates a configuration that trusts these roots for Production and Sandbox.
    public init(
        apps: [String: Int64?],
        environments: Set<Environment> = [.production, .sandbox],
        trustedRoots: Set<Fingerprint>,
        maximumAges: [Environment: Duration] = [:]
    ) {
        self.init(
            apps: apps, environments: environments, trustedRoots: TrustedRoots(appStore: trustedRoots),
            maximumAges: maximumAges)
    }
}
