package import Base
package import Figures
import Postgres

/// A closed month. Its values stay as they were when it was closed.
package struct ClosedMonth: Sendable, Hashable {
    let id: Int64
    /// The month.
    package let month: ClosingMonth
    /// Its first and its last day, by the calendar of that time.
    package let days: ClosedRange<CalendarDay>
    /// The zone of its days (IANA).
    package let zone: String
    /// The version of the catalog that its figures were summed by; nil before the first catalog. For a month that an earlier release closed, the
    /// current version of that time.
    package let catalogVersion: Int64?
    /// The version of the commission table; nil for the release's own table, and for months that were closed before there was any.
    package let commissionVersion: Int64?
    /// Whether it was proven that all of Apple's notifications until its end had arrived.
    package let isProven: Bool
    /// The number of its rows.
    package let rows: Int64
    /// The measures that it has on record.
    let measures: Set<String>
    /// When it was closed.
    package let closedAt: Timestamp
    /// The actor that closed it.
    package let closedBy: String

    private init(_ month: ClosingMonth, _ days: ClosedRange<CalendarDay>, _ row: PostgresRow) throws {
        (self.month, self.days) = (month, days)
        id = try row.decode("id")
        zone = try row.decode("zone")
        catalogVersion = try row.decode("catalog_version")
        commissionVersion = try row.decode("commission_version")
        isProven = try row.decode("is_proven")
        rows = try row.decode("row_count")
        measures = Set(try row.decode("measures", as: [String].self))
        closedAt = Timestamp(try row.decode("closed_at", as: PostgresTimestamp.self))
        closedBy = try row.decode("closed_by")
    }

    /// Whether it has a figure on record. It has none that the release lacked which closed it.
    package func records(_ figure: Figure) -> Bool {
        figure.recordedMeasures.allSatisfy { measures.contains($0.rawValue) }
    }

    /// The months of a statement's rows, in their order.
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
        row_count, measures, closed_at, closed_by
        """
}
