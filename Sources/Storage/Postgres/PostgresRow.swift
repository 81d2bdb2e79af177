/// One row of a result.
public struct PostgresRow: Sendable {
    let result: LibPQResult
    let index: Int

    /// Reads a column by its index, from 0.
    ///
    /// - Throws: ``PostgresError`` (`.decoding`) if there is no such column, its type is another, or it is NULL and
    ///   `T` is not optional. The error names column and types, never the value.
    public func decode<T: PostgresDecodable>(_ column: Int, as: T.Type = T.self) throws(PostgresError) -> T {
        guard result.columns.indices.contains(column) else {
            throw PostgresError(
                .decoding, "there is no column \(column): the result has \(result.columns.count)", operation: "decode")
        }
        let described = result.columns[column]
        guard described.isBinary else {
            throw PostgresError(.unsupported, "results of scripts cannot be read", operation: "decode")
        }
        do throws(PostgresValueError) {
            return try result.withValue(row: index, column: column) { bytes throws(PostgresValueError) in
                guard let bytes else { return try T.decodeNull(type: described.type) }
                return try T.decode(bytes, type: described.type)
            }
        } catch {
            throw PostgresError(
                .decoding, "column \"\(result.name(of: column))\": wanted \(error.wanted), got \(error.got)",
                operation: "decode"
            )
        }
    }

    /// Reads a column by its name; of several with that name, the first.
    ///
    /// - Throws: as ``decode(_:as:)-(Int,_)``.
    public func decode<T: PostgresDecodable>(_ column: String, as: T.Type = T.self) throws(PostgresError) -> T {
        guard let position = result.column(named: column) else {
            throw PostgresError(
                .decoding, "there is no column \"\(column)\" in the result", operation: "decode")
        }
        return try decode(position)
    }

    /// Reads the whole row, which must have exactly these columns: `let (id, name) = try row.values(Int64.self, String.self)`.
    ///
    /// - Throws: as ``decode(_:as:)-(Int,_)``, and if the number of columns is another.
    public func values<each T: PostgresDecodable>(_ types: repeat (each T).Type) throws(PostgresError) -> (
        repeat each T
    ) {
        var wanted = 0
        for _ in repeat each types { wanted += 1 }
        guard wanted == result.columns.count else {
            throw PostgresError(
                .decoding, "wanted \(wanted) columns, got \(result.columns.count)", operation: "decode")
        }
        var column = -1
        func next<U: PostgresDecodable>(_ type: U.Type) throws(PostgresError) -> U {
            column += 1
            return try decode(column, as: type)
        }
        return (repeat try next(each types))
    }
}
