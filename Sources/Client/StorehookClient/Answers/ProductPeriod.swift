/// How long a product lasts each time.
public enum ProductPeriod: ServerWords {
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
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.week, .month, .twoMonths, .quarter, .halfYear, .year, .lifetime, .term]

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
        case .unknown(let word): word
        }
    }
}
