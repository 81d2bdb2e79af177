/// What gives an account its tier.
public enum AccountSource: ServerWords {
    /// A purchase at Apple.
    case apple
    /// Given by staff.
    case grant
    /// A trial.
    case trial
    /// None.
    case none
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.apple, .grant, .trial, .none]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .apple: "apple"
        case .grant: "grant"
        case .trial: "trial"
        case .none: "none"
        case .unknown(let word): word
        }
    }
}
