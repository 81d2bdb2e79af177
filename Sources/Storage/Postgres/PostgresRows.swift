/// The rows of a statement's result, in the server's order. The memory is libpq's and is freed with the last copy.
public struct PostgresRows: Sendable {
    let result: LibPQResult

    init(_ result: LibPQResult) {
        self.result = result
    }

    /// How many rows the statement inserted, changed, deleted, or returned.
    public var affectedRows: Int { result.affectedRows }

    /// The columns' names, in order.
    public var columnNames: [String] { result.columns.indices.map { result.name(of: $0) } }
}

extension PostgresRows: RandomAccessCollection {
    /// The first row's index: 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { result.rowCount }

    /// One row.
    public subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "row \(position) of \(count)")
        return PostgresRow(result: result, index: position)
    }
}
