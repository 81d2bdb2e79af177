/// Why an accepted purchase opens nothing.
public enum NoAccessReason: ServerWords {
    /// Sandbox purchases do not count for this account.
    case sandboxNotCounted
    /// It has ended, or was taken back.
    case notCurrent
    /// Staff's block counts above it.
    case overruled
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.sandboxNotCounted, .notCurrent, .overruled]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .sandboxNotCounted: "sandbox_not_counted"
        case .notCurrent: "not_current"
        case .overruled: "overruled"
        case .unknown(let word): word
        }
    }
}
