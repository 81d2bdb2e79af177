import Base
import Yams

extension FiscalCalendar {
    /// Reads a calendar in YAML, of at most 1 MiB:
    ///
    ///     years:
    ///       - {year: 2022, from: 2021-09-26}
    ///       - {year: 2023, from: 2022-09-25, weeks: [5, 4, 5, 5, 4, 4, 5, 4, 4, 5, 4, 4]}
    ///
    /// Nothing is ignored.
    package init(yaml text: String) throws(FigureFileFault) {
        self = try FigureFileReader.read(text, .fiscalCalendar, empty: "years: and below it a list") { root, file in
            let years = file.entries(root, "years", .fiscalYear) { members -> Year? in
                guard let number = members["year"]?.scalar.flatMap({ Int($0.string) }), let from = members.firstDay
                else { return nil }
                let weeks = members["weeks"]?.sequence?.compactMap { $0.scalar.flatMap { Int($0.string) } }
                return Year(number: number, from: from, weeks: weeks ?? Year.usualWeeks)
            }
            for (place, node) in file.nodes(root, "years").enumerated() where place < years.count {
                let year = years[place]
                if place > 0, year.number <= years[place - 1].number {
                    file.complain(node, "\(year.number) stands after \(years[place - 1].number): each year stands once")
                }
                let first = CalendarDay(number: FiscalCalendar.lastDay(of: year.number - 1).number + 1)
                let length = FiscalCalendar.lastDay(of: year.number).number + 1 - first.number
                let weeks = year.weeks.reduce(0, +)
                if year.from != first {
                    file.complain(
                        node,
                        "fiscal \(year.number) begins on \(first), the day after the last Saturday of September, and not on \(year.from)"
                    )
                } else if Int64(weeks) * 7 != length {
                    file.complain(
                        node, "fiscal \(year.number) has \(length / 7) weeks, and these months have \(weeks)")
                }
            }
            return FiscalCalendar(years: years)
        }
    }
}

extension StrictObject {
    /// A fiscal calendar as a whole.
    static let fiscalCalendar = StrictObject(
        what: "a fiscal calendar",
        members: [
            .init(
                "years", .array(.strict(fiscalYear), least: 1, most: 200),
                needed: "years: and below it a list, each with year: and from:", "Apple's fiscal years, in their order."
            )
        ])

    /// A fiscal year.
    static let fiscalYear = StrictObject(
        what: "a fiscal year",
        members: [
            .init(
                "year", .integer(2000...9998), needed: "year: 2026", "The year in which it ends, in September."),
            .init("from", .word(day), needed: "from: 2025-09-28", "Its first day, a Sunday, in Los Angeles."),
            .init(
                "weeks", .array(.integer(4...6), least: 12, most: 12),
                "How many weeks each of its twelve months has; 5, 4 and 4 a quarter by default."),
        ])
}
