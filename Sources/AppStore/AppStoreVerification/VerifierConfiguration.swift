import AppStorePayloads
public import Base

/// What a verifier trusts and serves.
public struct VerifierConfiguration: Sendable, Hashable {
    /// The apps served: bundle identifier, and the App Apple ID that Production needs.
    public var apps: [String: Int64?]
    /// The environments served. One that is not listed is refused, however well signed.
    public var environments: Set<Environment>
    /// The roots trusted, and for which environments.
    public var trustedRoots: TrustedRoots
    /// How old a posted notification may be, by the environment that it speaks of; of any age where there is none.
    ///
    /// Certificates are judged at the payload's own date, so an old notification stays valid; who wants replays refused sets this.
    public var maximumAges: [Environment: Duration]

    /// How far ahead of the clock something may have been signed: clocks differ, by seconds as seen of Apple's.
    ///
    /// What is signed later counts more, so a date in the future would overrule everything that Apple says until then.
    public static let maximumLead: Duration = .seconds(300)

    /// Creates a configuration; Production and Sandbox under Apple Root CA - G3 unless told.
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
