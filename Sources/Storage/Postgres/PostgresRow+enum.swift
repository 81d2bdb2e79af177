extension PostgresRow {
    /// Reads a text column as one of a type's values.
    ///
    /// - Throws: ``PostgresError`` (`.decoding`) as ``decode(_:as:)-(String,_)``, and if the text is none of them: a
    ///   newer release wrote it. The error names the column, never the text.
    package func decode<T: RawRepresentable>(
        _ column: String, among: T.Type
    ) throws(PostgresError) -> T where T.RawValue == String {
        guard let value = T(rawValue: try decode(column, as: String.self)) else {
            throw PostgresError(
                .decoding, "column \"\(column)\": a value that this release does not know", operation: "decode")
        }
        return value
    }
}
