public import Base

extension Catalog {
    /// What Apple offers new subscribers of a product, as App Store Connect has it. It is for display: Apple decides who may have it
    /// and what it costs.
    public struct IntroductoryOffer: Sendable, Hashable {
        /// How it is paid for, in the words of Apple's `offerDiscountType`.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Nothing is paid.
            case freeTrial = "free_trial"
            /// Its whole time is paid for at once.
            case payUpFront = "pay_up_front"
            /// Each of the product's periods is paid for at a price of its own.
            case payAsYouGo = "pay_as_you_go"
        }

        /// How it is paid for.
        public var kind: Kind
        /// How long it lasts.
        public var duration: OfferDuration
        /// In thousandths of the product's currency: of the whole time, with ``Kind/payAsYouGo`` of each period; nil for a free trial.
        public var price: Int64?

        /// An offer.
        public init(_ kind: Kind, for duration: OfferDuration, price: Int64? = nil) {
            self.kind = kind
            self.duration = duration
            self.price = price
        }
    }

    /// How long an offer lasts.
    public struct OfferDuration: Sendable, Hashable {
        /// What is counted.
        public enum Unit: String, Sendable, Hashable, CaseIterable {
            case day, week, month, year
        }

        /// How many; at least 1.
        public var count: Int
        /// Of what.
        public var unit: Unit

        /// A duration.
        public init(_ count: Int, _ unit: Unit) {
            self.count = count
            self.unit = unit
        }
    }
}

extension Catalog.OfferDuration: LosslessStringConvertible {
    /// Reads the form of the file: `7 days`, `1 week`. Otherwise nil.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...999).contains(count), "\(count)" == parts[0],
            let unit = Unit.allCases.first(where: { parts[1] == $0.rawValue || parts[1] == $0.rawValue + "s" })
        else { return nil }
        self.init(count, unit)
    }

    /// The form of the file.
    public var description: String { "\(count) \(unit.rawValue)\(count == 1 ? "" : "s")" }

    /// As Apple writes an `offerPeriod` (ISO 8601): `P7D`.
    public var iso8601: String { "P\(count)\(unit.rawValue.prefix(1).uppercased())" }

    /// For people: `7 days`, 7 天.
    public var names: LocalizedText {
        let (simplified, traditional) =
            switch unit {
            case .day: ("天", "天")
            case .week: ("周", "週")
            case .month: ("个月", "個月")
            case .year: ("年", "年")
            }
        return LocalizedText(
            description, others: ["zh-Hans": "\(count) \(simplified)", "zh-Hant": "\(count) \(traditional)"])
    }

    /// The same in the largest unit that it is a whole number of: 7 days are a week, 12 months a year.
    var simplest: Self {
        switch unit {
        case .day where count % 7 == 0: Self(count / 7, .week)
        case .month where count % 12 == 0: Self(count / 12, .year)
        default: self
        }
    }

    /// Whether Apple has free trials that are this long: 3 days, 1 or 2 weeks, 1, 2, 3 or 6 months, 1 year
    /// (App Store Connect Help, "Set up introductory offers").
    var isOfFreeTrials: Bool {
        switch simplest.unit {
        case .day: simplest.count == 3
        case .week: simplest.count <= 2
        case .month: [1, 2, 3, 6].contains(simplest.count)
        case .year: simplest.count == 1
        }
    }

    /// Whether it is a whole number of others. Days and months are not compared: months differ.
    func isMultiple(of other: Self) -> Bool {
        let (own, others) = (length, other.length)
        return own.isInMonths == others.isInMonths && own.count % others.count == 0
    }

    private var length: (count: Int, isInMonths: Bool) {
        switch unit {
        case .day: (count, false)
        case .week: (count * 7, false)
        case .month: (count, true)
        case .year: (count * 12, true)
        }
    }
}

extension Catalog.Period {
    /// After how long it renews itself; nil where it does not.
    package var renewal: Catalog.OfferDuration? {
        switch self {
        case .week: .init(1, .week)
        case .month: .init(1, .month)
        case .twoMonths: .init(2, .month)
        case .quarter: .init(3, .month)
        case .halfYear: .init(6, .month)
        case .year: .init(1, .year)
        case .lifetime, .term: nil
        }
    }
}
