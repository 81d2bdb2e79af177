import Postgres

/// One column of a table as it is written: its name, and the value that a row has there.
///
/// A table is a list of these, and its columns are named nowhere else, so that a statement's list and the arrays it
/// reads cannot get out of step.
struct LedgerColumn<Row>: Sendable {
    let name: String
    /// Binds the column's values, one array for all rows.
    let bind: @Sendable ([Row], inout PostgresQuery.StringInterpolation) -> Void

    init<Value: PostgresArrayElement & SendableMetatype>(_ name: String, _ value: @escaping @Sendable (Row) -> Value)
    where [Value]: PostgresEncodable {
        self.name = name
        bind = { rows, statement in statement.appendInterpolation(rows.map(value)) }
    }
}

extension PostgresQuery {
    /// `select * from unnest(…)`: rows computed in memory, in the order of their columns.
    static func rows<Row>(_ rows: [Row], _ columns: [LedgerColumn<Row>]) -> PostgresQuery {
        var statement = StringInterpolation(literalCapacity: 32 + 8 * columns.count, interpolationCount: columns.count)
        statement.appendLiteral("select * from unnest(")
        for (place, column) in columns.enumerated() {
            if place > 0 { statement.appendLiteral(", ") }
            column.bind(rows, &statement)
        }
        statement.appendLiteral(")")
        return PostgresQuery(stringInterpolation: statement)
    }
}
