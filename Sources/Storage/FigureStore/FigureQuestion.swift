package import Base
package import Figures

/// What of a figure is asked for.
package struct FigureQuestion: Sendable, Hashable {
    /// How long the periods are.
    package enum Step: String, Sendable, Hashable, CaseIterable {
        /// A month of the calendar.
        case month
        /// A month of Apple's fiscal year, by days of Los Angeles.
        case fiscalMonth = "fiscal-month"
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
        /// How long what was bought lasts: the period of the catalog, or what else it is.
        case plan

        /// The column that says it; of a plan, its product's.
        var column: String {
            switch self {
            case .app: "bundle_id"
            case .product, .plan: "product_id"
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
            case .freeToPaid: "\(figure.rawValue) counts accounts of all apps: there is none by \(split.rawValue)"
            case .purchaseFailureRate, .restoreSuccessRate:
                "\(figure.rawValue) counts what apps report, and they name no \(split.rawValue)"
            default:
                "\(figure.rawValue) counts customers, who may have several of one: there is none by \(split.rawValue); mrr has subscriptions by it"
            }
        }
    }

    /// Refuses a split that the figure does not have, and some apps where it is of all of them.
    package func check() throws(NoSplit) {
        if let split, !figure.splits.contains(split) { throw NoSplit(figure: figure, split: split) }
        if apps != nil, figure == .freeToPaid { throw NoSplit(figure: figure, split: .app) }
    }

    /// The most values of a split in all periods that one answer has.
    package static let mostCells = 10_000
    /// The most rows that make them: one for each measure.
    static let mostRows = Int64(mostCells * FigureMeasure.summed.count) + 1

    /// The figure.
    package var figure: Figure
    /// The first day, and the last one, which belongs to it. By month, and by fiscal month, whole ones are answered.
    package var days: ClosedRange<CalendarDay>
    /// By fiscal month these, in their order, with their days.
    var fiscalMonths: [FiscalCalendar.Month]
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
    /// - Parameter fiscalMonths: by fiscal month those in which the days are.
    package init(
        _ figure: Figure, _ days: ClosedRange<CalendarDay>, by step: Step, _ split: Split? = nil,
        fiscalMonths: [FiscalCalendar.Month] = [], environment: String = Environment.production.rawValue,
        apps: Set<String>? = nil, in currency: String? = nil
    ) {
        self.figure = figure
        self.currency = figure.isMoney ? currency : nil
        self.step = step
        self.split = split
        self.environment = environment
        self.apps = apps
        self.fiscalMonths = fiscalMonths
        if let calendar = step.calendar {
            self.days = calendar.whole(days)
        } else {
            self.days =
                (fiscalMonths.first?.days ?? days).lowerBound...(fiscalMonths.last?.days ?? days).upperBound
        }
    }

    /// The zone whose days it is about; nil for that of the figures.
    var zone: String? { step == .fiscalMonth ? AppleReport.timeZone : nil }

    /// An expression of the first day of a period.
    /// - Parameter column: an expression of the period of one of the sums with the fewest rows.
    func period(ofSum column: String) -> String {
        isWhole || step == .fiscalMonth ? period(ofDay: column) : column
    }

    /// An expression of the first day of a period.
    /// - Parameter column: an expression of a day in it.
    func period(ofDay column: String) -> String {
        if isWhole { return "'0001-01-01'::date" }
        switch step {
        case .day: return column
        case .month: return "date_trunc('month', (\(column))::timestamp)::date"
        case .fiscalMonth:
            let firsts = "'{\(fiscalMonths.map(\.days.lowerBound.description).joined(separator: ","))}'::date[]"
            return "(\(firsts))[width_bucket(\(column), \(firsts))]"
        }
    }

    /// The sums with the fewest rows that answer it; nil where only the cells do.
    var grain: String? {
        switch (step, split) {
        case (.month, nil), (.month, .app), (.month, .currency): "plain_month"
        case (.month, .product), (.month, .plan): "month_product"
        case (.month, .country): "month_country"
        // Fiscal months are sums of days: their calendar may be replaced.
        case (_, nil), (_, .app), (_, .currency): "day"
        default: nil
        }
    }

    /// The converted sums with the fewest rows that answer it.
    var convertedGrain: String { grain ?? "day_part" }
}

/// A question that is answered with fewer values only.
package struct TooManyCells: Error, CustomStringConvertible {
    /// It has no parts.
    package init() {}

    package var description: String {
        "more than \(FigureQuestion.mostCells) values: ask for fewer days, for months, or without the split"
    }
}

extension Figure {
    /// What it may be apart by: customers only by app; and no country or currency is known of what apps report.
    package var splits: [FigureQuestion.Split] {
        switch self {
        case .active, .churn, .retention, .lifetimeValue: [.app]
        case .freeToPaid: []
        case .purchaseFailureRate, .restoreSuccessRate: [.app, .product, .plan]
        default: FigureQuestion.Split.allCases
        }
    }
}
