/// How long a product lasts each time.
public enum PaywallPeriod: String, Sendable, Hashable, CaseIterable {
    /// Seven days, renewing itself.
    case week
    /// A month, renewing itself.
    case month
    /// Two months, renewing itself.
    case twoMonths
    /// Three months, renewing itself.
    case quarter
    /// Six months, renewing itself.
    case halfYear
    /// A year, renewing itself.
    case year
    /// Bought once, for good.
    case lifetime
    /// Bought once, for a time.
    case term

    /// Whether it renews itself.
    public var renews: Bool { self != .lifetime && self != .term }

    /// Its days as the server divides prices: a month has 30, a year 365; nil where it does not renew itself.
    var days: Int? {
        switch self {
        case .week: 7
        case .month: 30
        case .twoMonths: 60
        case .quarter: 91
        case .halfYear: 182
        case .year: 365
        case .lifetime, .term: nil
        }
    }

    /// What it is called beside others.
    var nameKey: TextKey {
        switch self {
        case .week: .periodWeek
        case .month: .periodMonth
        case .twoMonths: .periodTwoMonths
        case .quarter: .periodQuarter
        case .halfYear: .periodHalfYear
        case .year: .periodYear
        case .lifetime: .periodLifetime
        case .term: .periodTerm
        }
    }

    /// How a price for it is written.
    var priceKey: TextKey {
        switch self {
        case .week: .pricePerWeek
        case .month: .pricePerMonth
        case .twoMonths: .pricePerTwoMonths
        case .quarter: .pricePerQuarter
        case .halfYear: .pricePerHalfYear
        case .year: .pricePerYear
        case .lifetime, .term: .priceOnce
        }
    }
}
