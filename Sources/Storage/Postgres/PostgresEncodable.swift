/// A value that can be a parameter of a statement, in PostgreSQL's binary format and with its type.
public protocol PostgresEncodable {
    /// The type that the parameter is declared as.
    static var postgresType: PostgresType { get }

    /// Whether this value is SQL's NULL; then ``encode(into:)`` is not called.
    var isNull: Bool { get }

    /// Appends the value's binary form, without a length, to `buffer`.
    func encode(into buffer: inout [UInt8])
}

extension PostgresEncodable {
    /// Only optionals can be NULL.
    public var isNull: Bool { false }
}

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
