public import Base

extension Catalog {
    /// Something that is sold.
    public struct Product: Sendable, Hashable {
        /// Its short id, unique in the catalog; of the form of a tier's id.
        public var id: String
        /// Its id at Apple.
        public var productID: String
        /// The app's bundle id.
        public var bundleID: String
        /// The tier that it gives.
        public var tier: String
        /// Its name for customers; nil where the file has none.
        public var names: LocalizedText?
        /// Its description for customers.
        public var texts: LocalizedText?
        /// Its period's name for customers, like 每月.
        public var periodNames: LocalizedText?
        /// In thousandths of the currency, for display; Apple decides what a customer pays. Nil where the
        /// file has none.
        public var price: Int64?
        /// ISO 4217, three capital letters. Present wherever a price is, the product's or its introductory offer's.
        public var currency: String?
        /// The price's text, where it is not to be made from ``price``: `¥12`.
        public var priceTexts: LocalizedText?
        /// The period that one purchase lasts.
        public var period: Period
        /// The days that one purchase of a ``Period/term`` lasts; nil for all others.
        public var lasts: Int?
        /// Products with a lower number are shown first.
        public var sortOrder: Int
        /// Whether the shop highlights it.
        public var isPopular: Bool
        /// Apple's id of its subscription group; nil where the file has none. Those of one app that name none are one group.
        public var group: String?
        /// Apple's introductory offer; nil where the file has none.
        public var introductory: IntroductoryOffer?

        /// A product.
        public init(
            id: String, productID: String, bundleID: String, tier: String, names: LocalizedText? = nil,
            texts: LocalizedText? = nil, periodNames: LocalizedText? = nil, price: Int64? = nil,
            currency: String? = nil,
            priceTexts: LocalizedText? = nil, period: Period, lasts: Int? = nil, sortOrder: Int = 0,
            isPopular: Bool = false, group: String? = nil, introductory: IntroductoryOffer? = nil
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
            self.group = group
            self.introductory = introductory
        }

        /// The days that the price is divided by; nil for a purchase without an end.
        public var days: Int? { period == .term ? lasts : period.days }

        /// The price per day in thousandths of the currency, rounded half up to a hundredth of it: 12.00 a month is
        /// 0.40, and 98.00 a year 0.27. Nil where there is no price or no end.
        public func pricePerDay() -> Int64? {
            guard let price, let days, days > 0 else { return nil }
            let divisor = Int64(days) * 10
            let (whole, rest) = max(0, price).quotientAndRemainder(dividingBy: divisor)
            return (whole + (rest * 2 >= divisor ? 1 : 0)) * 10
        }
    }

    /// The period that a purchase lasts.
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
        /// Without an end.
        case lifetime
        /// A time that does not renew itself; the catalog states how long it lasts, as Apple does not.
        case term

        /// The days that a price is divided by: for months, so many twelfths of 365 in whole days. Nil where there is
        /// no such number.
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
