import Base
import FigureStore
import TestSupport

/// The days that random lives ask a figure about. Months are asked for at once. Days are asked for by half years, because one answer has no room
/// for all of them: for all half years with all samples, and by default for one in six of them, chosen by chance.
struct AskedDays {
    private let spans: [ClosedRange<CalendarDay>]
    private let isWhole: Bool

    /// - Parameters:
    ///   - days: all days of the lives.
    ///   - step: the length of a period.
    init(
        _ days: ClosedRange<CalendarDay>, by step: FigureQuestion.Step,
        using generator: inout some RandomNumberGenerator
    ) {
        isWhole = step != .day
        guard !isWhole else {
            spans = [days]
            return
        }
        let halfYears = stride(from: days.lowerBound.number, through: days.upperBound.number, by: 180).map {
            CalendarDay(number: $0)...CalendarDay(number: min($0 + 179, days.upperBound.number))
        }
        spans = sampled(halfYears, oneIn: 6, using: &generator)
    }

    /// What the figure answers about them, a line a value.
    func lines(_ question: FigureQuestion, _ database: FigureDatabase) async throws -> [String] {
        guard !isWhole else { return try await database.figures.answer(question).lines }
        var lines: [String] = []
        for span in spans {
            var part = question
            part.days = span
            lines += try await database.figures.answer(part).lines
        }
        return lines
    }

    /// Those of an oracle's lines that are about these days. Each line begins with its period.
    func among(_ lines: [String]) -> [String] {
        guard !isWhole else { return lines }
        return lines.filter { line in
            CalendarDay(String(line.prefix(10))).map { day in spans.contains { $0.contains(day) } } ?? true
        }
    }
}
