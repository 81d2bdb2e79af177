import Foundation

/// A JSON value to answer with.
enum JSONValue: Encodable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([JSONValue])
    case object([String: JSONValue])

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }

    /// An object of the members that have a value.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSONValue { .list(texts.map(JSONValue.text)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// The JSON text, names sorted.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
