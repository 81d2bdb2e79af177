import Base
import Figures
import Postgres

extension FigureAnswer {
    /// The key of a value among those of its period.
    private struct Place: Hashable {
        var group: String?
        var currency: String?
        var isUnconverted: Bool

        init(_ cell: Cell) { (group, currency, isUnconverted) = (cell.group, cell.currency, cell.isUnconverted) }

        func precedes(_ other: Place) -> Bool {
            (group ?? "", isUnconverted ? 1 : 0, currency ?? "")
                < (other.group ?? "", other.isUnconverted ? 1 : 0, other.currency ?? "")
        }
    }

    /// Adds to the changes of each period what stood before it. A period without changes has a value, too, once it has begun.
    mutating func carry(by state: FigureState, in zone: String, _ session: borrowing PostgresSession) throws {
        var (standing, changes) = ([Place: FigureSums](), [CalendarDay: [Place: FigureSums]]())
        for part in question.before {
            var before = FigureAnswer(question: part)
            try before.read(by: state, in: zone, session)
            for cell in before.cells { standing[Place(cell), default: FigureSums()].add(cell.sums) }
            ratesCorrectedAt = [ratesCorrectedAt, before.ratesCorrectedAt].compactMap(\.self).max()
        }
        for cell in cells { changes[cell.period, default: [:]][Place(cell), default: FigureSums()].add(cell.sums) }
        let today = try session.query(.today(in: zone)).one().decode(0, as: String.self)
        let columns = question.figure.columns
        cells = []
        for period in periods where period.description <= today {
            let changed = changes[period] ?? [:]
            for place in Set(standing.keys).union(changed.keys).sorted(by: { $0.precedes($1) }) {
                var sums = changed[place] ?? FigureSums()
                sums.follow(standing[place] ?? FigureSums())
                standing[place] = sums.through
                guard columns.contains(where: { ($0.value(sums) ?? 0) != 0 }) else { continue }
                cells.append(
                    Cell(
                        period: period, group: place.group, currency: place.currency,
                        isUnconverted: place.isUnconverted, sums: sums))
            }
            guard cells.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        }
    }
}

extension FigureQuestion {
    /// Questions about all days before the first one: whole months, and the days of the month until the first day.
    fileprivate var before: [FigureQuestion] {
        let first = days.lowerBound
        let month = FigureMonth(first).days.lowerBound
        guard first.number > Self.firstDay else { return [] }
        var parts: [FigureQuestion] = []
        if month.number > Self.firstDay {
            var months = self
            (months.step, months.isWhole) = (.month, true)
            months.days = CalendarDay(number: Self.firstDay)...CalendarDay(number: month.number - 1)
            parts.append(months)
        }
        if month < first {
            var rest = self
            (rest.step, rest.isWhole) = (.day, true)
            rest.days = month...CalendarDay(number: first.number - 1)
            parts.append(rest)
        }
        return parts
    }

    /// 0001-01-01.
    static let firstDay: Int64 = -719_162
}
