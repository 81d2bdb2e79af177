import Foundation

/// A JSON value to answer with.
enum JSONValue: Codable, Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
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

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A number is no flag, nor a flag a number: Foundation keeps them apart.
        if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .list(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

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
