public import Base

extension Catalog {
    /// Something that an app asks about before it does it, and reports after.
    public struct Feature: Sendable, Hashable {
        /// Its id, of a to z, 0 to 9, _ and -, at most 64 characters.
        public var id: String
        /// Its name for customers; nil where the file has none.
        public var names: LocalizedText?
        /// The unit that is counted, such as minutes; nil where the file has none.
        public var units: LocalizedText?
        /// Its limit in each tier. A file names every tier.
        public var limits: [String: Limit]

        /// A feature.
        public init(id: String, names: LocalizedText? = nil, units: LocalizedText? = nil, limits: [String: Limit]) {
            self.id = id
            self.names = names
            self.units = units
            self.limits = limits
        }

        /// Its limit in a tier; `no` where the tier is not named.
        public func limit(in tier: String) -> Limit { limits[tier] ?? .no }
    }

    /// How much of a feature a tier gives.
    public enum Limit: Sendable, Hashable {
        /// Nothing.
        case no
        /// All of it, and it is not counted.
        case yes
        /// All of it, and it is counted.
        case unlimited
        /// So much. 0 is nothing, written as a number.
        case count(Int64, per: UsagePeriod)

        /// Whether it opens the feature at all, before any use.
        public var isOpen: Bool {
            switch self {
            case .no: false
            case .yes, .unlimited: true
            case .count(let count, _): count > 0
            }
        }

        /// Whether it gives all of the feature, counted or not.
        public var isUnlimited: Bool { self == .yes || self == .unlimited }
    }

    /// The period that use is counted over.
    public enum UsagePeriod: String, Sendable, Hashable, CaseIterable {
        /// A calendar day in the catalog's time zone.
        case day
        /// A calendar month in the catalog's time zone.
        case month
        /// No period: a stock that can be given back, such as saved words.
        case total
    }
}

extension Catalog.Limit: LosslessStringConvertible {
    /// Reads the form of the file: `no`, `yes`, `unlimited`, `5 per day`, `30 per month`, `500 in total`.
    /// Otherwise nil.
    public init?(_ text: String) {
        switch text {
        case "no": self = .no
        case "yes": self = .yes
        case "unlimited": self = .unlimited
        default:
            let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let period = Catalog.UsagePeriod.allCases.first(where: { parts.last ?? "" == $0.words }),
                let digits = parts.first, digits.utf8.allSatisfy(\.isDigit), digits.utf8.count <= 15,
                let count = Int64(digits)
            else { return nil }
            self = .count(count, per: period)
        }
    }

    /// The form of the file.
    public var description: String {
        switch self {
        case .no: "no"
        case .yes: "yes"
        case .unlimited: "unlimited"
        case .count(let count, let period): "\(count) \(period.words)"
        }
    }
}

extension Catalog.UsagePeriod {
    fileprivate var words: String {
        switch self {
        case .day: "per day"
        case .month: "per month"
        case .total: "in total"
        }
    }
}
