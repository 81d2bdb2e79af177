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
        /// What the values are made of.
        package var sums: FigureSums
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
    /// In the order of periods, then groups, then currencies. Periods in which nothing is are left out.
    package var cells: [Cell] = []
    /// Of each period, those without values too.
    package var standings: [CalendarDay: Standing] = [:]

    /// The periods of the question by their first days.
    package var periods: [CalendarDay] { question.periods.map(\.lowerBound) }

    /// A period as people write it: `2026-10`, or `2026-10-31`.
    package func name(of period: CalendarDay) -> String {
        question.step == .month ? FigureMonth(period).description : period.description
    }
}

extension FigureQuestion {
    /// How many periods it has.
    var periodCount: Int64 {
        switch step {
        case .day: return days.upperBound.number - days.lowerBound.number + 1
        case .month:
            let (first, last) = (FigureMonth(days.lowerBound), FigureMonth(days.upperBound))
            return Int64((last.year - first.year) * 12 + last.month - first.month + 1)
        }
    }

    /// Its periods in their order.
    package var periods: [ClosedRange<CalendarDay>] {
        switch step {
        case .day:
            (days.lowerBound.number...days.upperBound.number).map { CalendarDay(number: $0)...CalendarDay(number: $0) }
        case .month:
            Array(
                sequence(first: FigureMonth(days.lowerBound)) { month in
                    month.advanced(by: 1).flatMap { $0.days.lowerBound <= days.upperBound ? $0 : nil }
                }
            ).map(\.days)
        }
    }
}
