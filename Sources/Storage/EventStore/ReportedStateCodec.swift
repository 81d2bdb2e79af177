import AppStorePayloads
import Base
import Postgres

/// The fields of the state last reported, as one text; see the migration that makes `purchase_tellings`. Further fields come last, so
/// that earlier releases read what they know of.
///
/// It is read and written for each notification: one column costs a fraction of twenty.
struct ReportedStateCodec {
    private static let separator = UInt8(ascii: "|")
    private static let escape = UInt8(ascii: "\\")
    private static let version = "1"

    private var bytes: [UInt8] = []

    private init() {}

    /// Appends the added fields to the buffer, in UTF-8.
    static func write(to bytes: inout [UInt8], _ fields: (inout ReportedStateCodec) -> Void) {
        var text = ReportedStateCodec()
        swap(&text.bytes, &bytes)
        text.bytes.append(contentsOf: version.utf8)
        fields(&text)
        swap(&text.bytes, &bytes)
    }

    mutating func add(_ value: String?) {
        bytes.append(Self.separator)
        guard let value else { return }
        if value.isEmpty {
            bytes.append(Self.escape)
            bytes.append(UInt8(ascii: "e"))
        }
        for byte in value.utf8 {
            switch byte {
            case Self.separator:
                bytes.append(Self.escape)
                bytes.append(UInt8(ascii: "p"))
            case Self.escape:
                bytes.append(Self.escape)
                bytes.append(Self.escape)
            default: bytes.append(byte)
            }
        }
    }

    mutating func add(_ value: Int64?) {
        bytes.append(Self.separator)
        if let value { bytes.append(contentsOf: String(value).utf8) }
    }

    mutating func add(_ value: Bool?) { add(value.map { $0 ? 1 : 0 as Int64 }) }

    mutating func add(_ value: Timestamp?) { add(value?.millisecondsSince1970) }

    mutating func add(_ value: UniqueIdentifier?) {
        bytes.append(Self.separator)
        value?.write(to: &bytes)
    }

    /// Reads the fields in their order.
    struct Reader {
        private let bytes: [UInt8]
        private var place = 0

        /// - Throws: `PostgresError` where a newer release wrote it.
        init(_ text: String) throws {
            bytes = Array(text.utf8)
            guard try next() == ReportedStateCodec.version else { throw Self.unreadable }
        }

        mutating func next() throws -> String? {
            let field = try nextField()
            if field.isEmpty { return nil }
            guard field.contains(ReportedStateCodec.escape) else { return String(decoding: field, as: UTF8.self) }
            var bytes: [UInt8] = []
            var isEscaped = false
            for byte in field {
                if isEscaped {
                    isEscaped = false
                    if byte == UInt8(ascii: "p") { bytes.append(ReportedStateCodec.separator) }
                    if byte == ReportedStateCodec.escape { bytes.append(byte) }
                } else if byte == ReportedStateCodec.escape {
                    isEscaped = true
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        mutating func nextNumber() throws -> Int64? {
            let field = try nextField()
            if field.isEmpty { return nil }
            guard let number = Int64(String(decoding: field, as: UTF8.self)) else { throw Self.unreadable }
            return number
        }

        /// The bytes up to the next separator.
        private mutating func nextField() throws -> ArraySlice<UInt8> {
            guard place <= bytes.count else { throw Self.unreadable }
            let field = bytes[place...].prefix { $0 != ReportedStateCodec.separator }
            place = field.endIndex + 1
            return field
        }

        /// Whether all fields are read.
        var isAtEnd: Bool { place > bytes.count }

        mutating func nextFlag() throws -> Bool? { try nextNumber().map { $0 != 0 } }

        mutating func nextInstant() throws -> Timestamp? {
            try nextNumber().map { Timestamp(millisecondsSince1970: $0) }
        }

        /// A field at the end that earlier releases do not write.
        mutating func lastInstant() throws -> Timestamp? { isAtEnd ? nil : try nextInstant() }

        mutating func nextIdentifier() throws -> UniqueIdentifier? {
            let field = try nextField()
            if field.isEmpty { return nil }
            guard let identifier = UniqueIdentifier(utf8: field) else { throw Self.unreadable }
            return identifier
        }

        /// A field that is always there.
        static func require<Value>(_ value: Value?) throws -> Value {
            guard let value else { throw unreadable }
            return value
        }

        static var unreadable: PostgresError {
            PostgresError(.decoding, "told: a text that this release cannot read", operation: "decode")
        }
    }
}
