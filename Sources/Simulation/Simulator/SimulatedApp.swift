import Base

/// An app in the simulated store, in one of Apple's environments.
public struct SimulatedApp: Sendable, Hashable, Codable {
    /// The two environments in which Apple itself signs.
    public enum Environment: String, Sendable, Hashable, Codable, CaseIterable {
        /// Apple's Sandbox, TestFlight included.
        case sandbox = "Sandbox"
        /// The App Store proper.
        case production = "Production"
    }

    /// The app's bundle identifier.
    public var bundleId: String
    /// The App Store's number for the app.
    public var appAppleId: Int64
    /// The environment that every part of a notification names.
    public var environment: Environment
    /// The build that the notifications speak of.
    public var bundleVersion: String
    /// The Billing Grace Period set for the app.
    public var gracePeriod: Milliseconds

    /// An app. Only the bundle identifier is required; the grace period is 16 days by default.
    public init(
        bundleId: String,
        appAppleId: Int64 = 1_234_567_890,
        environment: Environment = .sandbox,
        bundleVersion: String = "42",
        gracePeriod: Milliseconds = 1_382_400_000
    ) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environment = environment
        self.bundleVersion = bundleVersion
        self.gracePeriod = gracePeriod
    }

    /// The app of demonstrations: `com.example.storehook`, App Apple ID 1234567890, in the Sandbox.
    public static let example = SimulatedApp(bundleId: "com.example.storehook")

    /// The same app in another environment.
    public func `in`(_ environment: Environment) -> SimulatedApp {
        var copy = self
        copy.environment = environment
        return copy
    }
}
