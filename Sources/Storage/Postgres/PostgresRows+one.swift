extension PostgresRows {
    /// The only row of a statement that always returns one.
    ///
    /// - Throws: ``PostgresError`` (`.decoding`) if there are none or several.
    public func one() throws(PostgresError) -> PostgresRow {
        guard count == 1, let row = first else {
            throw PostgresError(.decoding, "one row was expected, and \(count) came")
        }
        return row
    }
}
