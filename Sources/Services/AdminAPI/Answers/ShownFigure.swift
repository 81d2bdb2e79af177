import Base
import FigureStore
import Figures

/// A figure, as a member of the staff sees it.
struct ShownFigure: Sendable {
    /// Its values.
    let answer: FigureAnswer
    /// How many of its cells are shown, the last ones; nil for all.
    let last: Int?
    /// The app of the request; nil for all apps that the member sees.
    let app: String?
    /// The instant of the request; nil for now.
    let instant: Timestamp?

    /// The values of a period, of one member of the split, and of money in one currency.
    struct Cell: Sendable {
        /// The values.
        let cell: FigureAnswer.Cell
        /// The period, such as `2026-10`.
        let period: String
        /// One for each column.
        let values: [Int64?]
        /// Whether it is what could not be converted; nil where nothing was to be.
        let notConverted: Bool?
        /// How final they are.
        let standing: FigureAnswer.Standing
        /// Whether a closed month recorded them.
        let isRecorded: Bool
        /// The path of the rows that they count.
        let rows: String
    }

    /// The days that it has values of; nil without any.
    var days: ClosedRange<CalendarDay>? { answer.question.isNothing ? nil : answer.question.days }

    /// In their order.
    var cells: [Cell] {
        let question = answer.question
        let columns = question.figure.columns
        let periods = Dictionary(uniqueKeysWithValues: question.periods.map { ($0.lowerBound, $0) })
        return answer.cells.suffix(last ?? .max).map { cell in
            Cell(
                cell: cell, period: answer.name(of: cell.period), values: columns.map { $0.value(cell.sums) },
                notConverted: question.currency.map { _ in cell.isUnconverted },
                standing: answer.standings[cell.period] ?? .init(),
                isRecorded: answer.recorded.contains(cell.period),
                rows: rows(of: cell, periods[cell.period] ?? cell.period...cell.period))
        }
    }

    /// The path of the rows of a cell. An empty value asks for rows that do not say it.
    private func rows(of cell: FigureAnswer.Cell, _ days: ClosedRange<CalendarDay>) -> String {
        let question = answer.question
        func group(of split: FigureQuestion.Split) -> String? { question.split == split ? cell.group : nil }
        let query: [(name: String, value: String?)] = [
            ("environment", question.environment), ("from", days.lowerBound.description),
            ("to", days.upperBound.description), ("by", question.step.rawValue), ("app", group(of: .app) ?? app),
            ("product", group(of: .product)), ("plan", group(of: .plan)), ("country", group(of: .country)),
            // Converted amounts are of all currencies, or of the currency of the group.
            (
                "currency",
                question.currency == nil || cell.isUnconverted
                    ? cell.currency ?? group(of: .currency) : group(of: .currency)
            ),
            ("in", question.figure.isMoney ? question.currency ?? "none" : nil), ("at", instant?.description),
        ]
        let written = query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded())" } }
        return "/admin/figures/\(question.figure.rawValue)/rows?\(written.joined(separator: "&"))"
    }
}
