package import Base
package import Figures

/// What of a figure is asked for.
package struct FigureQuestion: Sendable, Hashable {
    /// How long the periods are.
    package enum Step: String, Sendable, Hashable, CaseIterable {
        /// A month of the calendar.
        case month
        /// A day.
        case day
    }

    /// What values are apart by, beside the period and, of money, the currency.
    package enum Split: String, Sendable, Hashable, CaseIterable {
        /// The app, by its bundle id.
        case app
        /// The product, by Apple's id.
        case product
        /// The country of the App Store.
        case country
        /// The currency.
        case currency

        /// The column that says it.
        var column: String {
            switch self {
            case .app: "bundle_id"
            case .product: "product_id"
            case .country: "storefront"
            case .currency: "currency"
            }
        }
    }

    /// What a figure is not apart by, as an answer says it.
    package struct NoSplit: Error, CustomStringConvertible {
        fileprivate let figure: Figure
        fileprivate let split: Split

        package var description: String {
            switch figure {
            case .purchaseFailureRate, .restoreSuccessRate:
                "\(figure.rawValue) counts what apps report, and they name no \(split.rawValue)"
            default:
                "\(figure.rawValue) counts customers, who may have several of one: there is none by \(split.rawValue); mrr has subscriptions by it"
            }
        }
    }

    /// Refuses a split that the figure does not have.
    package func check() throws(NoSplit) {
        if let split, !figure.splits.contains(split) { throw NoSplit(figure: figure, split: split) }
    }

    /// The most values of a split in all periods that one answer has.
    package static let mostCells = 10_000
    /// The most rows that make them: one for each measure.
    static let mostRows = Int64(mostCells * FigureMeasure.summed.count) + 1

    /// The figure.
    package var figure: Figure
    /// The first day, and the last one, which belongs to it. By month whole months are answered.
    package var days: ClosedRange<CalendarDay>
    /// The periods.
    package var step: Step
    /// What else is apart.
    package var split: Split?
    /// Whose purchases count.
    package var environment: String
    /// The apps that count; nil for all.
    package var apps: Set<String>?

    /// Whether all its periods are one: then that is the day 0001-01-01.
    var isWhole = false

    /// The currency to which amounts are converted (ISO 4217); nil where each is by itself, and of a figure without money.
    package var currency: String?

    /// A question about all apps in Production.
    package init(
        _ figure: Figure, _ days: ClosedRange<CalendarDay>, by step: Step, _ split: Split? = nil,
        environment: String = Environment.production.rawValue, apps: Set<String>? = nil, in currency: String? = nil
    ) {
        self.figure = figure
        self.currency = figure.isMoney ? currency : nil
        self.step = step
        self.split = split
        self.environment = environment
        self.apps = apps
        switch step {
        case .day: self.days = days
        case .month:
            self.days =
                FigureMonth(days.lowerBound).days.lowerBound...FigureMonth(days.upperBound).days.upperBound
        }
    }

    /// An expression of a period as text.
    /// - Parameter column: an expression of a sum's period or day.
    func period(_ column: String) -> String { isWhole ? "'0001-01-01'" : "\(column)::text" }

    /// The sums with the fewest rows that answer it; nil where only the cells do.
    var grain: String? {
        switch (step, split) {
        case (.month, nil), (.month, .app), (.month, .currency): "plain_month"
        case (.month, .product): "month_product"
        case (.month, .country): "month_country"
        case (.day, nil), (.day, .app), (.day, .currency): "day"
        case (.day, _): nil
        }
    }

    /// The converted sums with the fewest rows that answer it.
    var convertedGrain: String { grain ?? "day_part" }
}

/// A question that is answered with fewer values only.
package struct TooManyCells: Error, CustomStringConvertible {
    package var description: String {
        "more than \(FigureQuestion.mostCells) values: ask for fewer days, for months, or without the split"
    }
}

extension Figure {
    /// What it may be apart by: customers only by app; and no country or currency is known of what apps report.
    package var splits: [FigureQuestion.Split] {
        switch self {
        case .active, .churn, .retention: [.app]
        case .purchaseFailureRate, .restoreSuccessRate: [.app, .product]
        default: FigureQuestion.Split.allCases
        }
    }
}
