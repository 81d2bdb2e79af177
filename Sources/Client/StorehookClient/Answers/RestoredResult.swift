/// What became of a transaction.
public enum RestoredResult: ServerWords {
    /// It is the account's now.
    case restored
    /// It was the account's already.
    case known
    /// It moved here from another account.
    case transferred
    /// Apple signed it for another account.
    case otherAccount
    /// Another account has it.
    case boundElsewhere
    /// The catalog lacks its product.
    case unknownProduct
    /// It proves nothing.
    case invalid
    /// It cannot be judged now: hand it in again.
    case undecided
    /// It is kept, and of no account.
    case noted
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [
        .restored, .known, .transferred, .otherAccount, .boundElsewhere, .unknownProduct, .invalid, .undecided, .noted,
    ]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .restored: "restored"
        case .known: "known"
        case .transferred: "transferred"
        case .otherAccount: "other_account"
        case .boundElsewhere: "bound_elsewhere"
        case .unknownProduct: "unknown_product"
        case .invalid: "invalid"
        case .undecided: "undecided"
        case .noted: "noted"
        case .unknown(let word): word
        }
    }
}
