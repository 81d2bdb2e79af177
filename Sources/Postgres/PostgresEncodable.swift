/// A value on its way into a statement, in PostgreSQL's binary format and with its type named.
public protocol PostgresEncodable {
    /// The type that the parameter is declared as.
    static var postgresType: PostgresType { get }

    /// Whether this value is SQL's NULL; then ``encode(into:)`` is not asked.
    var isNull: Bool { get }

    /// Appends the value's binary form, without a length, to `buffer`.
    func encode(into buffer: inout [UInt8])
}

extension PostgresEncodable {
    /// Only optionals can be NULL.
    public var isNull: Bool { false }
}

/// A value on its way out of a row, from PostgreSQL's binary format.
public protocol PostgresDecodable {
    /// Reads a value that is not NULL.
    ///
    /// - Parameters:
    ///   - bytes: The value's binary form; it ends with the call.
    ///   - type: The column's type; a type that does not fit is refused rather than guessed at.
    static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Self

    /// What a NULL becomes; an error for everything but optionals.
    static func decodeNull(type: PostgresType) throws(PostgresValueError) -> Self
}

extension PostgresDecodable {
    /// Only optionals can be NULL.
    public static func decodeNull(type: PostgresType) throws(PostgresValueError) -> Self {
        throw PostgresValueError(wanted: "\(Self.self)", got: "NULL")
    }
}

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

/// What an array may hold. A protocol of its own, because an array of bytes is not `smallint[]` but `bytea`.
public protocol PostgresArrayElement {
    /// The type of a parameter that holds `[Self]`.
    static var postgresArrayType: PostgresType { get }

    /// Appends the binary form of the whole array to `buffer`.
    static func encodeArray(_ elements: [Self], into buffer: inout [UInt8])

    /// Reads a whole array.
    static func decodeArray(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [Self]
}

/// A type that stands for itself: as a parameter, a column, and the element of a one-dimensional array.
public protocol PostgresScalar: PostgresEncodable, PostgresDecodable, PostgresArrayElement {}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The wrapped value's type: a NULL has one too.
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// Whether there is no value, or one that is NULL itself.
    public var isNull: Bool {
        switch self {
        case .none: true
        case .some(let value): value.isNull
        }
    }

    /// Appends the wrapped value.
    public func encode(into buffer: inout [UInt8]) {
        self?.encode(into: &buffer)
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
