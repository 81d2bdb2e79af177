/// JSON as text, kept exactly as it is. As a parameter it is `json`, which PostgreSQL checks for form and stores verbatim.
public struct PostgresJSON: Sendable, Hashable {
    /// The JSON's UTF-8.
    public let bytes: [UInt8]

    /// JSON from its UTF-8; only the server checks whether it is JSON.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// JSON from its text; only the server checks whether it is JSON.
    public init(_ text: String) {
        bytes = [UInt8](text.utf8)
    }

    /// The JSON's text.
    public var text: String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension PostgresJSON: PostgresScalar {
    /// `json`.
    public static var postgresType: PostgresType { .json }
    /// `json[]`.
    public static var postgresArrayType: PostgresType { .jsonArray }

    /// The text as it is.
    public func encode(into buffer: inout [UInt8]) {
        buffer.append(contentsOf: bytes)
    }

    /// Reads `json` or `jsonb`.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> PostgresJSON {
        switch type {
        case .json:
            return PostgresJSON(bytes.withUnsafeBytes { [UInt8]($0) })
        case .jsonb:
            // jsonb_send puts a version byte first, which has been 1 since the type exists.
            guard bytes.integer(at: 0, UInt8.self) == 1 else { fallthrough }
            return PostgresJSON(bytes.withUnsafeBytes { [UInt8]($0.dropFirst()) })
        default:
            throw PostgresValueError(wanted: "PostgresJSON", got: "\(type)")
        }
    }
}
