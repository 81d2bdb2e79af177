import AppStorePayloads
package import Base

/// A JSON value that is answered. Members stay in the order in which they are given, so that the same answer is the same text.
package enum APIValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true`, `false`
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A text.
    case string(String)
    /// A list.
    case array([APIValue])
    /// An object.
    case object([Member])

    /// A name and its value.
    package struct Member: Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value.
        package var value: APIValue

        /// A member.
        package init(_ name: String, _ value: APIValue) {
            self.name = name
            self.value = value
        }
    }

    /// An instant as RFC 3339 has it, in UTC.
    package static func time(_ timestamp: Timestamp) -> APIValue { .string(timestamp.description) }

    /// An instant, or null.
    package static func time(_ timestamp: Timestamp?) -> APIValue { timestamp.map { .time($0) } ?? .null }

    /// A text, or null.
    package static func text(_ text: String?) -> APIValue { text.map { .string($0) } ?? .null }

    /// The member's value; nil where there is none of this name, or this is no object.
    package subscript(_ name: String) -> APIValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// Without white space.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2048)
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .string(let text): bytes.appendJSON(text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSON(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension APIValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A text.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// `true` or `false`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    package init(arrayLiteral elements: APIValue...) { self = .array(elements) }
    /// An object; its members in the order in which they stand.
    package init(dictionaryLiteral elements: (String, APIValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    /// `null`
    package init(nilLiteral: ()) { self = .null }
}
