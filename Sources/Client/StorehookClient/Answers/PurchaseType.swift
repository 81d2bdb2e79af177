/// Kinds of purchases.
public enum PurchaseType: ServerWords {
    /// It renews itself.
    case subscription
    /// It never ends.
    case lifetime
    /// A time without renewal.
    case term
    /// None.
    case none
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.subscription, .lifetime, .term, .none]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .subscription: "subscription"
        case .lifetime: "lifetime"
        case .term: "term"
        case .none: "none"
        case .unknown(let word): word
        }
    }
}
