import Base
import Figures
import Testing

@Suite("Apple's fiscal calendar")
struct FiscalCalendarTests {
    /// The first days of the months that Apple published, and behind each year its last one.
    private static let published: [(year: Int, firsts: [String], last: String)] = [
        (
            2023,
            [
                "2022-09-25", "2022-10-30", "2022-11-27", "2023-01-01", "2023-02-05", "2023-03-05", "2023-04-02",
                "2023-05-07", "2023-06-04", "2023-07-02", "2023-08-06", "2023-09-03",
            ], "2023-09-30"
        ),
        (
            2024,
            [
                "2023-10-01", "2023-11-05", "2023-12-03", "2023-12-31", "2024-02-04", "2024-03-03", "2024-03-31",
                "2024-05-05", "2024-06-02", "2024-06-30", "2024-08-04", "2024-09-01",
            ], "2024-09-28"
        ),
        (
            2025,
            [
                "2024-09-29", "2024-11-03", "2024-12-01", "2024-12-29", "2025-02-02", "2025-03-02", "2025-03-30",
                "2025-05-04", "2025-06-01", "2025-06-29", "2025-08-03", "2025-08-31",
            ], "2025-09-27"
        ),
        (
            2026,
            [
                "2025-09-28", "2025-11-02", "2025-11-30", "2025-12-28", "2026-02-01", "2026-03-01", "2026-03-29",
                "2026-05-03", "2026-05-31", "2026-06-28", "2026-08-02", "2026-08-30",
            ], "2026-09-26"
        ),
        (
            2027,
            [
                "2026-09-27", "2026-11-01", "2026-11-29", "2026-12-27", "2027-01-31", "2027-02-28", "2027-03-28",
                "2027-05-02", "2027-05-30", "2027-06-27", "2027-08-01", "2027-08-29",
            ], "2027-09-25"
        ),
    ]

    private func month(_ text: String) throws -> FiscalMonth {
        guard let month = FiscalMonth(text) else { throw NoMeaning(text: text) }
        return month
    }

    @Test("of the release has the months that Apple published")
    func standard() throws {
        #expect(try FiscalCalendar(yaml: FiscalCalendar.standardText) == .standard)
        for (year, firsts, last) in Self.published {
            let months = try #require(
                FiscalCalendar.standard.months(month("\(year)-FM01"), month("\(year)-FM12")), "\(year)")
            #expect(months.map(\.days.lowerBound.description) == firsts, "\(year)")
            #expect(months.last?.days.upperBound.description == last, "\(year)")
        }
    }

    @Test("of the release has 53 weeks in 2017 and 2023 alone, and each day of its years in one month")
    func whole() throws {
        let calendar = FiscalCalendar.standard
        #expect(calendar.years.map(\.number) == Array(2017...2027))
        #expect(calendar.years.filter { $0.weeks.reduce(0, +) == 53 }.map(\.number) == [2017, 2023])
        #expect(calendar.years.allSatisfy { [52, 53].contains($0.weeks.reduce(0, +)) })
        let months = try #require(calendar.months(month("2017-FM01"), month("2027-FM12")))
        #expect(months.count == 132)
        for (one, next) in zip(months, months.dropFirst()) {
            #expect(one.days.upperBound.number + 1 == next.days.lowerBound.number, "\(next.name)")
        }
        for one in months {
            #expect(
                calendar.month(of: one.days.lowerBound) == one.name
                    && calendar.month(of: one.days.upperBound) == one.name)
        }
        #expect(try calendar.month(of: day("2016-09-24")) == nil)
        #expect(try calendar.month(of: day("2027-09-26")) == nil)
        #expect(try FiscalCalendar.year(of: day("2027-09-26")) == 2028)
        #expect(try FiscalCalendar.year(of: day("2016-09-24")) == 2016)
        #expect(try calendar.months(month("2027-FM12"), month("2028-FM01")) == nil)
    }

    @Test("names its months in one way")
    func names() throws {
        #expect(try month("2026-FM10") == FiscalMonth(year: 2026, month: 10))
        #expect(try month("2026-FM09").description == "2026-FM09")
        #expect(try month("2026-FM09") < month("2026-FM10"))
        for text in ["2026-10", "2026-FM13", "2026-FM00", "2026-FM1", "2026-fm10", "+026-FM10", "2026-FM+1", ""] {
            #expect(FiscalMonth(text) == nil, "\(text)")
        }
        #expect(ClosingMonth("2026-FM10").map { "\($0)" } == "2026-FM10")
        #expect(ClosingMonth("2026-10") == FigureMonth("2026-10").map { ClosingMonth.calendar($0) })
        #expect(FigureBound("2026-10") == nil && FigureBound("2026-10-31").map { "\($0)" } == "2026-10-31")
    }

    private static let first = "years:\n  - {year: 2022, from: 2021-09-26}\n"

    @Test(
        "is refused whole, with line and reason",
        arguments: [
            ("", "it is empty"), ("years: []\n", "line 1: years is a list of 1 to 200"),
            ("years:\n  - {from: 2021-09-26}\n", "line 2: a fiscal year needs year; write year: 2026"),
            ("years:\n  - {year: 2022}\n", "line 2: a fiscal year needs from; write from: 2025-09-28"),
            ("years:\n  - {year: 2022, from: 2021-09-25}\n", "line 2: fiscal 2022 begins on 2021-09-26"),
            (first + "  - {year: 2022, from: 2021-09-26}\n", "line 3: 2022 stands after 2022"),
            (
                first + "  - {year: 2023, from: 2022-09-25}\n",
                "line 3: fiscal 2023 has 53 weeks, and these months have 52"
            ),
            (first + "  - {year: 2024, from: 2023-10-01, weeks: [5, 4, 4]}\n", "line 3: weeks is a list of 12"),
            (first + "  - {year: 2024, from: 2023-10-01, quarters: 4}\n", "line 3: a fiscal year has no \"quarters\""),
        ])
    private func refused(_ text: String, _ reason: String) throws {
        do throws(FigureFileFault) {
            _ = try FiscalCalendar(yaml: text)
            Issue.record("\(text) was read")
        } catch { #expect(error.description.contains(reason), "\(error)") }
    }
}
