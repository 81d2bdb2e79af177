package import Base
package import Figures
import Postgres

/// A month whose values stand as they were when it was closed.
package struct ClosedMonth: Sendable, Hashable {
    let id: Int64
    /// The month.
    package let month: ClosingMonth
    /// Its days, the first and the last, by the calendar of then.
    package let days: ClosedRange<CalendarDay>
    /// Whose days its days are (IANA).
    package let zone: String
    /// The catalog that was current; nil before the first.
    package let catalogVersion: Int64?
    /// The commission table that counted; nil while that was the release's own, and of months that were closed before there was one.
    package let commissionVersion: Int64?
    /// Whether nothing of it could be missing.
    package let isProven: Bool
    /// How many rows it counted.
    package let rows: Int64
    /// When it was closed.
    package let closedAt: Timestamp
    /// Who closed it.
    package let closedBy: String

    private init(_ month: ClosingMonth, _ days: ClosedRange<CalendarDay>, _ row: PostgresRow) throws {
        (self.month, self.days) = (month, days)
        id = try row.decode("id")
        zone = try row.decode("zone")
        catalogVersion = try row.decode("catalog_version")
        commissionVersion = try row.decode("commission_version")
        isProven = try row.decode("is_proven")
        rows = try row.decode("row_count")
        closedAt = Timestamp(try row.decode("closed_at", as: PostgresTimestamp.self))
        closedBy = try row.decode("closed_by")
    }

    /// Those that a statement found, in its order.
    static func all(_ rows: PostgresRows) throws -> [ClosedMonth] {
        try rows.compactMap { row in
            guard let month = ClosingMonth(try row.decode("month", as: String.self)),
                let first = CalendarDay(try row.decode("first_day", as: String.self)),
                let last = CalendarDay(try row.decode("last_day", as: String.self)), first <= last
            else { return nil }
            return try ClosedMonth(month, first...last, row)
        }
    }

    static let columns = """
        id, month, first_day::text as first_day, last_day::text as last_day, zone, catalog_version, commission_version, is_proven,
        row_count, closed_at, closed_by
        """
}
