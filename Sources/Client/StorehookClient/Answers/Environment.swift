/// Apple's environments.
public enum Environment: ServerWords {
    /// Real purchases.
    case production
    /// Purchases of testers.
    case sandbox
    /// A test in Xcode.
    case xcode
    /// A test with a file of Xcode's.
    case localTesting
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.production, .sandbox, .xcode, .localTesting]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        case .unknown(let word): word
        }
    }
}
