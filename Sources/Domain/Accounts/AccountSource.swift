/// The source of an account's status; the raw values are those of the API and of SQL.
public enum AccountSource: String, Sendable, Hashable, CaseIterable {
    /// A purchase on the App Store.
    case apple
    /// An act of staff's: a grant, or days added to what gave access.
    case grant
    /// The app's own trial.
    case trial
    /// Nothing.
    case none

    /// The order where all else is equal: what was paid for, then what was given.
    var precedence: Int {
        switch self {
        case .apple: 3
        case .grant: 2
        case .trial: 1
        case .none: 0
        }
    }
}
