/// A type that an array may hold. A protocol of its own, because an array of bytes is not `smallint[]` but `bytea`.
public protocol PostgresArrayElement {
    /// The type of a parameter that holds `[Self]`.
    static var postgresArrayType: PostgresType { get }

    /// Appends the binary form of the whole array to `buffer`.
    static func encodeArray(_ elements: [Self], into buffer: inout [UInt8])

    /// Reads a whole array.
    static func decodeArray(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [Self]
}

/// A type that can be a parameter, a column, and the element of a one-dimensional array.
public protocol PostgresScalar: PostgresEncodable, PostgresDecodable, PostgresArrayElement {
    /// Appends the binary form of a whole array in which elements may be NULL to `buffer`.
    static func encodeArray(_ elements: [Self?], into buffer: inout [UInt8])

    /// Reads a whole array in which elements may be NULL.
    static func decodeArrayWithNulls(_ bytes: RawSpan) throws(PostgresValueError) -> [Self?]
}
