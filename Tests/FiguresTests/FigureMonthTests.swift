import Base
import Figures
import Testing

@Suite("A month of the figures")
struct FigureMonthTests {
    @Test("is read and written as 2026-10, and as nothing else")
    func text() throws {
        let month = try #require(FigureMonth("2026-10"))
        #expect((month.year, month.month) == (2026, 10))
        #expect(month.description == "2026-10")
        #expect(FigureMonth("0001-02")?.description == "0001-02")
        for text in [
            "2026-13", "2026-00", "2026-1", "26-10", "0000-10", "2026/10", "2026-10-01", "2026-FM1", " 2026-1",
            "２026-10", "",
        ] {
            #expect(FigureMonth(text) == nil, "\(text)")
        }
        #expect(FigureMonth(year: 2026, month: 13) == nil && FigureMonth(year: 0, month: 1) == nil)
    }

    @Test("has its days, in leap years and at the year's end too")
    func days() throws {
        for (month, first, last) in [
            ("2026-10", "2026-10-01", "2026-10-31"), ("2024-02", "2024-02-01", "2024-02-29"),
            ("2026-02", "2026-02-01", "2026-02-28"), ("2026-12", "2026-12-01", "2026-12-31"),
            ("9999-12", "9999-12-01", "9999-12-31"),
        ] {
            #expect(FigureMonth(month)?.days == (try day(first))...(try day(last)))
            #expect(FigureMonth(try day(first)) == FigureMonth(month))
            #expect(FigureMonth(try day(last)) == FigureMonth(month))
        }
    }

    @Test("is followed by the next one over the year's end, and by none after the year 9999")
    func steps() throws {
        let month = try #require(FigureMonth("2026-11"))
        let following = [0, 1, 2, -10, -11, 36].map { month.advanced(by: $0)?.description }
        #expect(following == ["2026-11", "2026-12", "2027-01", "2026-01", "2025-12", "2029-11"])
        #expect(FigureMonth("9999-12")?.advanced(by: 1) == nil)
        #expect(FigureMonth("0001-01")?.advanced(by: -1) == nil)
        #expect([Int.min, .max].allSatisfy { month.advanced(by: $0) == nil })
        let next = try #require(FigureMonth("2027-01"))
        #expect(month < next && !(next < month))
    }
}
