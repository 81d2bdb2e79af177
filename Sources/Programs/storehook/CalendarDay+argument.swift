import ArgumentParser
import Base

extension CalendarDay {
    /// Reads a day of the command line.
    static func argument(_ text: String) throws -> CalendarDay {
        guard let day = CalendarDay(text) else { throw ValidationError("it is a day like 2026-01-31") }
        return day
    }
}
