import Base
import Postgres

/// The place of an order in a list: the latest days come first, and within a day the orders that were booked last.
struct OrderMark: Sendable, Hashable, Comparable {
    var day: CalendarDay
    var id: Int64

    /// Reads a cursor; nil for another text.
    init?(_ cursor: ListCursor) {
        guard cursor.parts.count == OrderStore.cursorParts, let day = CalendarDay(cursor.parts[0]),
            let id = Int64(cursor.parts[1])
        else { return nil }
        self.day = day
        self.id = id
    }

    /// Reads the columns `day`, as text, and `id`.
    init(_ row: PostgresRow) throws {
        let text: String = try row.decode("day")
        guard let day = CalendarDay(text) else {
            throw PostgresError(.decoding, "an order's day is no day", operation: "orders")
        }
        self.day = day
        id = try row.decode("id")
    }

    var cursor: ListCursor { ListCursor(behind: [day.description, String(id)]) }

    /// In the order of the list.
    static func < (a: OrderMark, b: OrderMark) -> Bool { (b.day, b.id) < (a.day, a.id) }
}
