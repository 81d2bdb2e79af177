/// Columns for people: as wide as needed, numbers right-aligned.
package struct Table {
    private var rows: [[String]]
    private let numeric: Set<Int>

    /// A table with these columns; `numeric` ones are right-aligned.
    package init(_ header: [String], numeric: Set<Int> = []) {
        rows = [header]
        self.numeric = numeric
    }

    /// Adds a row, a cell for each column.
    package mutating func add(_ row: [String]) { rows.append(row) }

    /// The table, a line a row.
    package var text: String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return numeric.contains(column) ? padding + cell.0 : cell.0 + padding
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
