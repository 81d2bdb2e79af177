/// Why a feature is refused.
public enum RestrictionReason: ServerWords {
    /// The tier does not include it.
    case tierRequired
    /// The tier's limit is used up.
    case limitReached
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.tierRequired, .limitReached]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .tierRequired: "tierRequired"
        case .limitReached: "limitReached"
        case .unknown(let word): word
        }
    }
}
