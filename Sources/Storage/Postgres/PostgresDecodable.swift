/// A value that can be read from a row, in PostgreSQL's binary format.
public protocol PostgresDecodable {
    /// Reads a value that is not NULL.
    ///
    /// - Parameters:
    ///   - bytes: The value's binary form; it ends with the call.
    ///   - type: The column's type; a type that does not fit is refused rather than guessed at.
    static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Self

    /// The value for NULL; an error for everything but optionals.
    static func decodeNull(type: PostgresType) throws(PostgresValueError) -> Self
}

extension PostgresDecodable {
    /// Only optionals can be NULL.
    public static func decodeNull(type: PostgresType) throws(PostgresValueError) -> Self {
        throw PostgresValueError(wanted: "\(Self.self)", got: "NULL")
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads the wrapped value.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Wrapped? {
        try Wrapped.decode(bytes, type: type)
    }

    /// NULL is `nil`.
    public static func decodeNull(type: PostgresType) throws(PostgresValueError) -> Wrapped? {
        .none
    }
}
