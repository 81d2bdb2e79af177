package import Base
package import Figures

/// What figures answer.
package struct FigureAnswer: Sendable {
    /// The values of a period, of one member of the split, and of money in one currency.
    package struct Cell: Sendable, Hashable {
        /// The period's first day.
        package var period: CalendarDay
        /// The member of the split; nil without one, and empty where no record says it.
        package var group: String?
        /// The currency; nil of what is no money, and empty where no record says it.
        package var currency: String?
        /// Whether it is what could not be converted, since no rate is known.
        package var isUnconverted = false
        /// What the values are made of.
        package var sums: FigureSums
    }

    /// What could not be converted, of all periods.
    package struct Unconverted: Sendable, Hashable {
        /// The currency; empty where no record says it.
        package var currency: String
        /// How many rows.
        package var count: Int64
        /// Their part of the figure, in thousandths of the currency; of a rate that of its first amount, and of lifetime value all that was
        /// paid.
        package var amount: Int64

        /// So many rows.
        package init(currency: String, count: Int64, amount: Int64) {
            (self.currency, self.count, self.amount) = (currency, count, amount)
        }
    }

    /// How final a period is.
    package struct Standing: Sendable, Hashable {
        /// Whether it has not ended.
        package var isRunning = false
        /// Whether something changed that is not summed yet.
        package var isPending = false
        /// Whether nothing can be missing any more: Apple was asked for all that it sent until its end, of every app that counts and has a key.
        /// False where no app has one.
        package var isProven = false

        /// One that ended and is not proven.
        package init(isRunning: Bool = false, isPending: Bool = false, isProven: Bool = false) {
            (self.isRunning, self.isPending, self.isProven) = (isRunning, isPending, isProven)
        }
    }

    /// What was asked.
    package var question: FigureQuestion
    /// The zone whose days are counted; nil before the first were summed.
    package var zone: String?
    /// Of an answer by what closed months recorded, these; nil of what figures say now.
    package var closed: [ClosedMonth]?
    /// In the order of periods, then groups, then currencies. Periods in which nothing is are left out.
    package var cells: [Cell] = []
    /// When the last of the rates by which something was converted was corrected; nil where none was.
    package var ratesCorrectedAt: Timestamp?
    /// Whether tax is in some amounts, since the commission table has none there; nil of figures that no tax is taken off, and of closed months.
    package var isTaxIncluded: Bool?
    /// Of each period, those without values too.
    package var standings: [CalendarDay: Standing] = [:]

    /// The periods of the question by their first days.
    package var periods: [CalendarDay] { question.periods.map(\.lowerBound) }

    /// What could not be converted, by currency.
    package var unconverted: [Unconverted] {
        let money = question.figure.columns.first { $0.unit == .money }
        var totals: [String: FigureSums] = [:]
        for cell in cells where cell.isUnconverted {
            totals[cell.currency ?? "", default: FigureSums()].add(cell.sums)
        }
        return totals.sorted { $0.key < $1.key }.map { currency, sums in
            let amount =
                question.figure == .lifetimeValue
                ? Int64(clamping: sums.paid(through: .max).amount) : money?.value(sums) ?? 0
            return Unconverted(currency: currency, count: sums.count, amount: amount)
        }
    }

    /// A period as people write it: `2026-10`, `2026-FM10`, or `2026-10-31`.
    package func name(of period: CalendarDay) -> String {
        question.step.calendar?.name(of: period)
            ?? question.fiscalMonths.first { $0.days.lowerBound == period }?.name.description ?? period.description
    }
}

extension FigureQuestion {
    /// How many periods it has.
    var periodCount: Int64 { step.calendar?.count(of: days) ?? Int64(fiscalMonths.count) }

    /// Its periods in their order.
    package var periods: [ClosedRange<CalendarDay>] {
        step.calendar?.periods(of: days) ?? fiscalMonths.map(\.days)
    }
}
