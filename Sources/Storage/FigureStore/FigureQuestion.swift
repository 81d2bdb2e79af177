package import Base
package import Figures

/// A question for a figure.
package struct FigureQuestion: Sendable, Hashable {
    /// The length of a period.
    package enum Step: String, Sendable, Hashable, CaseIterable {
        /// A month of the calendar.
        case month
        /// A month of Apple's fiscal year, by days of Los Angeles.
        case fiscalMonth = "fiscal-month"
        /// A day.
        case day
    }

    /// What separates values, beside the period and, for money, the currency.
    package enum Split: String, Sendable, Hashable, CaseIterable {
        /// The app, by its bundle id.
        case app
        /// The product, by Apple's id.
        case product
        /// The country of the App Store.
        case country
        /// The currency.
        case currency
        /// The length of a purchase: the period of a subscription in the catalog, or the kind of another product.
        case plan

        /// The column of cells and rows; of a plan, the column of its product.
        var column: String {
            switch self {
            case .app: "bundle_id"
            case .product, .plan: "product_id"
            case .country: "storefront"
            case .currency: "currency"
            }
        }
    }

    /// A figure without such a split, in the words of an answer.
    package struct NoSplit: Error, CustomStringConvertible {
        fileprivate let figure: Figure
        fileprivate let split: Split

        package var description: String {
            switch figure {
            case .freeToPaid: "\(figure.rawValue) counts accounts of all apps: there is none by \(split.rawValue)"
            case .purchaseFailureRate, .restoreSuccessRate:
                "\(figure.rawValue) counts what apps report, and they name no \(split.rawValue)"
            default:
                "\(figure.rawValue) counts customers, and a customer may have more than one \(split.rawValue): ask for mrr by it"
            }
        }
    }

    /// Refuses a split that the figure does not have, and a choice of apps for a figure of all apps.
    package func check() throws(NoSplit) {
        if let split, !figure.splits.contains(split) { throw NoSplit(figure: figure, split: split) }
        if apps != nil, figure == .freeToPaid { throw NoSplit(figure: figure, split: .app) }
    }

    /// The most values of one answer, over all periods and members of its split.
    package static let mostCells = 10_000
    /// The most rows of so many values: one for each measure.
    static let mostRows = Int64(mostCells * FigureMeasure.summed.count) + 1

    /// The figure.
    package var figure: Figure
    /// The first and the last day, both included. Months and fiscal months are whole.
    package var days: ClosedRange<CalendarDay>
    /// The fiscal months in their order, with their days; empty for other steps.
    var fiscalMonths: [FiscalCalendar.Month]
    /// The periods.
    package var step: Step
    /// The split.
    package var split: Split?
    /// The environment of the purchases.
    package var environment: String
    /// The apps that count; nil for all.
    package var apps: Set<String>?

    /// Whether the answer is about all days as one period, with the name 0001-01-01.
    var isWhole = false

    /// The last day that had ended at the instant that the question is about; nil for now.
    package private(set) var until: CalendarDay?
    /// Whether none of its periods had ended by then: there is nothing to answer.
    package private(set) var isNothing = false

    /// The currency that amounts are converted to (ISO 4217); nil for each currency by itself, and for a figure without money.
    package var currency: String?
    /// The only currency that values are answered in, by the cells' own name of it; nil for all.
    package var onlyCurrency: String?

    /// A question about all apps in Production.
    /// - Parameter fiscalMonths: for the step of fiscal months, those of the days.
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

    /// Leaves out the periods that had not ended with a day.
    mutating func end(with day: CalendarDay) {
        until = day
        var last = day
        if step == .month, day < FigureMonth(day).days.upperBound {
            last = CalendarDay(number: FigureMonth(day).days.lowerBound.number - 1)
        }
        if step == .fiscalMonth {
            fiscalMonths = fiscalMonths.filter { $0.days.upperBound <= day }
            last = fiscalMonths.last?.days.upperBound ?? CalendarDay(number: days.lowerBound.number - 1)
        }
        isNothing = last < days.lowerBound
        if !isNothing { days = days.lowerBound...min(days.upperBound, last) }
    }

    /// The zone of its days; nil for the zone of the figures.
    var zone: String? { step == .fiscalMonth ? AppleReport.timeZone : nil }

    /// An expression: the first day of a period of the question.
    /// - Parameter column: an expression of a sum's period.
    func period(ofSum column: String) -> String {
        isWhole || step == .fiscalMonth ? period(ofDay: column) : column
    }

    /// An expression: the first day of a period of the question.
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
}

/// A question with more than ``FigureQuestion/mostCells`` values.
package struct TooManyCells: Error, CustomStringConvertible {
    /// An error.
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
