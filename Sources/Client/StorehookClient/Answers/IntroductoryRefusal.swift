/// Why an account may not have an introductory offer.
public enum IntroductoryRefusal: ServerWords {
    /// The account had one of this group.
    case offerUsed
    /// A subscription runs.
    case activeSubscription
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.offerUsed, .activeSubscription]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .offerUsed: "offer_used"
        case .activeSubscription: "active_subscription"
        case .unknown(let word): word
        }
    }
}
