/// Why an account may not have the app's trial.
public enum TrialRefusal: ServerWords {
    /// There is none.
    case notOffered
    /// The account had one.
    case trialUsed
    /// A subscription runs.
    case activeSubscription
    /// The account has paid before.
    case paidBefore
    /// This download had one.
    case trialUsedOnDevice
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.notOffered, .trialUsed, .activeSubscription, .paidBefore, .trialUsedOnDevice]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .notOffered: "not_offered"
        case .trialUsed: "trial_used"
        case .activeSubscription: "active_subscription"
        case .paidBefore: "paid_before"
        case .trialUsedOnDevice: "trial_used_on_device"
        case .unknown(let word): word
        }
    }
}
