/// Where the purchase was made, in Apple's word (`environment`).
public struct Environment: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Real purchases.
    public static let production = Environment(rawValue: "Production")
    /// Test purchases, TestFlight included.
    public static let sandbox = Environment(rawValue: "Sandbox")
    /// Signed on a developer's machine by Xcode.
    public static let xcode = Environment(rawValue: "Xcode")
    /// Made up by Apple's libraries for tests.
    public static let localTesting = Environment(rawValue: "LocalTesting")

    /// The values this release knows.
    public static let known: Set<Environment> = [.production, .sandbox, .xcode, .localTesting]
}
