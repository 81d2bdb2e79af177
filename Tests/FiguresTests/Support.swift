import Base
import Figures

/// What was written in a test and has to have a meaning.
struct NoMeaning: Error { let text: String }

/// A day that has to be one.
func day(_ text: String) throws -> CalendarDay {
    guard let day = CalendarDay(text) else { throw NoMeaning(text: text) }
    return day
}
