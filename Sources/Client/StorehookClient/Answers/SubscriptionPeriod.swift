/// How long a product or a purchase lasts each time.
public enum SubscriptionPeriod: ServerWords {
    /// A week.
    case week
    /// A month.
    case month
    /// Two months.
    case twoMonths
    /// Three months.
    case quarter
    /// Six months.
    case halfYear
    /// A year.
    case year
    /// It never ends.
    case lifetime
    /// A time without renewal.
    case term
    /// The catalog does not know it.
    case none
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.week, .month, .twoMonths, .quarter, .halfYear, .year, .lifetime, .term, .none]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .week: "week"
        case .month: "month"
        case .twoMonths: "two_months"
        case .quarter: "quarter"
        case .halfYear: "half_year"
        case .year: "year"
        case .lifetime: "lifetime"
        case .term: "term"
        case .none: "none"
        case .unknown(let word): word
        }
    }
}
