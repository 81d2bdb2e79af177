/// Kinds of introductory offers.
public enum IntroductoryOfferType: ServerWords {
    /// A free trial.
    case freeTrial
    /// One lower price for some periods.
    case payUpFront
    /// A lower price for each of some periods.
    case payAsYouGo
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.freeTrial, .payUpFront, .payAsYouGo]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .freeTrial: "free_trial"
        case .payUpFront: "pay_up_front"
        case .payAsYouGo: "pay_as_you_go"
        case .unknown(let word): word
        }
    }
}
