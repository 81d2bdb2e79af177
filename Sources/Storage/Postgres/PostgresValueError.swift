/// A value that does not fit the requested type. It names types, never the value.
public struct PostgresValueError: Error, Sendable, Hashable {
    /// The requested Swift type.
    public let wanted: String
    /// What the column held: a type's name, `NULL`, or what was wrong with the form.
    public let got: String

    /// An error with the wanted and the actual type.
    public init(wanted: String, got: String) {
        self.wanted = wanted
        self.got = got
    }
}
