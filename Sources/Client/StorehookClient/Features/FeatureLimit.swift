/// How much of a feature a tier gives.
public enum FeatureLimit: Sendable, Hashable, Codable {
    /// Nothing.
    case closed
    /// All of it, and it is not counted.
    case open
    /// All of it, and it is counted.
    case unlimited
    /// So much in a period. 0 is nothing.
    case count(Int64, per: Period)

    /// What use is counted over.
    public enum Period: String, Sendable, Hashable, Codable, CaseIterable {
        /// A calendar day in the catalog's time zone.
        case day
        /// A calendar month in the catalog's time zone.
        case month
        /// No period: a stock that can be given back, such as saved words.
        case total
    }

    /// Whether it opens the feature at all, before any use.
    public var isOpen: Bool {
        switch self {
        case .closed: false
        case .open, .unlimited: true
        case .count(let most, _): most > 0
        }
    }

    /// How much there may be in a period; nil without a limit, and where the feature is closed.
    public var most: Int64? {
        if case .count(let most, _) = self { most } else { nil }
    }

    /// Whether it gives more than another.
    func isMore(than other: FeatureLimit) -> Bool {
        switch self {
        case .closed: false
        case .open, .unlimited: other.most != nil || !other.isOpen
        case .count(let most, _): most > (other.most ?? (other.isOpen ? .max : 0))
        }
    }
}
