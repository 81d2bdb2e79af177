package import Base
package import Figures

/// The answer to a question for a figure.
package struct FigureAnswer: Sendable {
    /// The values of a period and a member of the split, and for money of a currency.
    package struct Cell: Sendable, Hashable {
        /// The period's first day.
        package var period: CalendarDay
        /// The member of the split; nil without a split, and empty where no record states it.
        package var group: String?
        /// The currency; nil without money, and empty where no record states it.
        package var currency: String?
        /// Whether it has the amounts that are not converted, because no rate is known.
        package var isUnconverted = false
        /// The sums that its values are worked out from.
        package var sums: FigureSums
    }

    /// Amounts in one currency that are not converted, of all periods.
    package struct Unconverted: Sendable, Hashable {
        /// The currency; empty where no record states it.
        package var currency: String
        /// The number of rows.
        package var count: Int64
        /// What they would add to the figure, in thousandths of the currency. For a share, what they would add to its numerator; for lifetime value,
        /// all that was paid.
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
        /// Whether a change is not summed yet.
        package var isPending = false
        /// Whether no notification can be missing: for each app of the question with a key, Apple was asked for all notifications until the end
        /// of the period. False where no app has a key.
        package var isProven = false

        /// One that ended and is not proven.
        package init(isRunning: Bool = false, isPending: Bool = false, isProven: Bool = false) {
            (self.isRunning, self.isPending, self.isProven) = (isRunning, isPending, isProven)
        }
    }

    /// The question.
    package var question: FigureQuestion
    /// The zone of its days; nil before any were summed.
    package var zone: String?
    /// The closed months of an answer from their records; nil for an answer from the books.
    package var closed: [ClosedMonth]?
    /// Further closed months, without the figure on record.
    package var unrecorded: [ClosingMonth] = []
    /// The cells, by period, then group, then currency. Periods without rows have none.
    package var cells: [Cell] = []
    /// When the last corrected rate among those of the conversions was corrected; nil without one.
    package var ratesCorrectedAt: Timestamp?
    /// Whether some amounts include tax, because the commission table has none for their storefront; nil for figures before tax, and for closed
    /// months.
    package var isTaxIncluded: Bool?
    /// How final each period is, also one without values.
    package var standings: [CalendarDay: Standing] = [:]
    /// The periods with what closed months recorded, in an answer from the books about an instant of the past.
    package var recorded: Set<CalendarDay> = []

    /// The periods of the question by their first days.
    package var periods: [CalendarDay] { question.periods.map(\.lowerBound) }

    /// The amounts that are not converted, by currency.
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

    /// Takes the values of whole months that closed months recorded.
    mutating func replace(by records: FigureAnswer) {
        let months = (records.closed ?? []).filter { $0.zone == zone }.map(\.days)
        recorded = Set(question.periods.filter { months.contains($0) }.map(\.lowerBound))
        guard !recorded.isEmpty else { return }
        let (own, others) = (
            Dictionary(grouping: cells, by: \.period), Dictionary(grouping: records.cells, by: \.period)
        )
        cells = periods.flatMap { (recorded.contains($0) ? others[$0] : own[$0]) ?? [] }
        for period in recorded { standings[period] = records.standings[period] }
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
