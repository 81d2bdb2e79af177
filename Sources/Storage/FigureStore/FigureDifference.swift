import Postgres
import PurchaseStore

/// A row of figures that differs from the one that follows from the books.
struct FigureDifference: Sendable {
    /// The day, or the first day of the month.
    let day: String
    /// What differs.
    let row: RowDifference

    /// Reads `day`, `key`, `stored` and `derived`.
    init(_ row: PostgresRow, table: String) throws {
        day = try row.decode("day")
        self.row = RowDifference(
            table: table, key: try row.decode("key"), column: "*", stored: try row.decode("stored"),
            derived: try row.decode("derived"))
    }
}
