/// What is counted over.
public enum UsagePeriod: ServerWords {
    /// A day.
    case day
    /// A month.
    case month
    /// It never begins anew.
    case total
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [.day, .month, .total]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .day: "day"
        case .month: "month"
        case .total: "total"
        case .unknown(let word): word
        }
    }
}
