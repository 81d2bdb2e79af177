extension Catalog {
    /// Something that is sold.
    public struct Product: Sendable, Hashable {
        /// Its short id, unique in the catalog; like that of a tier.
        public var id: String
        /// Apple's id of it.
        public var productID: String
        /// The app's bundle id.
        public var bundleID: String
        /// The tier that it gives.
        public var tier: String
        /// What customers call it; nil where the file does not say.
        public var names: LocalizedText?
        /// What customers are told about it.
        public var texts: LocalizedText?
        /// What customers call its period, like 每月.
        public var periodNames: LocalizedText?
        /// In thousandths of the currency, for display: what a customer pays is Apple's to say. Nil where the file does not say.
        public var price: Int64?
        /// ISO 4217, of three capital letters. Always there where a price is.
        public var currency: String?
        /// The price as it is to be shown, where that is not to be made out of ``price``: `¥12`.
        public var priceTexts: LocalizedText?
        /// For how long it is bought.
        public var period: Period
        /// The days that one purchase of a ``Period/term`` lasts; nil of all others.
        public var lasts: Int?
        /// The lower, the earlier it is shown.
        public var sortOrder: Int
        /// Whether it is to stand out.
        public var isPopular: Bool

        /// A product.
        public init(
            id: String, productID: String, bundleID: String, tier: String, names: LocalizedText? = nil,
            texts: LocalizedText? = nil, periodNames: LocalizedText? = nil, price: Int64? = nil,
            currency: String? = nil,
            priceTexts: LocalizedText? = nil, period: Period, lasts: Int? = nil, sortOrder: Int = 0,
            isPopular: Bool = false
        ) {
            self.id = id
            self.productID = productID
            self.bundleID = bundleID
            self.tier = tier
            self.names = names
            self.texts = texts
            self.periodNames = periodNames
            self.price = price
            self.currency = currency
            self.priceTexts = priceTexts
            self.period = period
            self.lasts = lasts
            self.sortOrder = sortOrder
            self.isPopular = isPopular
        }

        /// The days that the price is divided by; nil of what is bought once and for all.
        public var days: Int? { period == .term ? lasts : period.days }

        /// The price of a day in thousandths of the currency, rounded half up to a hundredth of it: 12.00 a month is 0.40, and
        /// 98.00 a year 0.27. Nil where there is no price or no end.
        public func pricePerDay() -> Int64? {
            guard let price, let days, days > 0 else { return nil }
            let divisor = Int64(days) * 10
            let (whole, rest) = max(0, price).quotientAndRemainder(dividingBy: divisor)
            return (whole + (rest * 2 >= divisor ? 1 : 0)) * 10
        }
    }

    /// For how long something is bought.
    public enum Period: String, Sendable, Hashable, CaseIterable {
        /// Seven days, renewing itself.
        case week
        /// A month, renewing itself.
        case month
        /// Two months, renewing themselves.
        case twoMonths = "two_months"
        /// Three months, renewing themselves.
        case quarter
        /// Six months, renewing themselves.
        case halfYear = "half_year"
        /// A year, renewing itself.
        case year
        /// Once and for all.
        case lifetime
        /// A time that does not renew itself; Apple does not say how long it lasts, the catalog does.
        case term

        /// The days that a price is divided by: of months, whole days of so many twelfths of 365. Nil where there is no such number.
        public var days: Int? {
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
    }
}
