/// The columns of a report, by the line that names them.
struct ReportHeader {
    private let places: [String: Int]
    /// How many there are.
    let count: Int

    init(_ row: ReportRow) {
        places = Dictionary(
            row.cells.enumerated().map { (ReportColumn.key($1), $0) }, uniquingKeysWith: { first, _ in first })
        count = row.cells.count
    }

    /// Where a column stands; nil where it is missing.
    func place(of column: ReportColumn) -> Int? { column.keys.lazy.compactMap { places[$0] }.first }

    /// The names of the missing columns.
    func missing(of columns: [ReportColumn]) -> [String] { columns.filter { place(of: $0) == nil }.map(\.name) }
}
