/// A value that did not fit the type asked for. It tells types, never the value.
public struct PostgresValueError: Error, Sendable, Hashable {
    /// The Swift type asked for.
    public let wanted: String
    /// What the column held: a type's name, `NULL`, or what was wrong with the form.
    public let got: String

    /// An error that says what was wanted and what was there instead.
    public init(wanted: String, got: String) {
        self.wanted = wanted
        self.got = got
    }
}
