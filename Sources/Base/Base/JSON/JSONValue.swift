/// A JSON value to be written. Members keep their order, so that equal answers are equal texts.
package enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true`, `false`
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A finite number.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object.
    case object([Member])
    /// Serialized JSON, such as what Apple signed: it is written byte for byte.
    case written([UInt8])

    /// A name and its value.
    package struct Member: Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value.
        package var value: JSONValue

        /// A member.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An instant as RFC 3339 has it, in UTC.
    package static func time(_ timestamp: Timestamp) -> JSONValue { .string(timestamp.description) }

    /// An instant, or null.
    package static func time(_ timestamp: Timestamp?) -> JSONValue { timestamp.map { .time($0) } ?? .null }

    /// A text, or null.
    package static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// Serialized JSON, or null.
    package static func written(_ json: [UInt8]?) -> JSONValue { json.map { .written($0) } ?? .null }

    /// The member's value; nil where there is no such member, or this is not an object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// A copy with another member behind the others, if it is an object.
    package func adding(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member(name, value)])
    }

    /// A copy without some members.
    package func removing(_ names: Set<String>) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !names.contains($0.name) })
    }

    /// A copy with the members of all objects in the order of their names.
    package var sorted: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.sorted))
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }

    /// Without white space.
    package var bytes: [UInt8] {
        var json = JSONWriter(capacity: 2048)
        write(to: &json)
        return json.bytes
    }

    /// The serialized value as a text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// In lines, for people and their editors.
    package var indented: String {
        var text = ""
        indent(0, into: &text)
        return text
    }

    private func indent(_ depth: Int, into text: inout String) {
        let lines: [(name: String?, value: JSONValue)]
        switch self {
        case .array(let values) where !values.isEmpty: lines = values.map { (nil, $0) }
        case .object(let members) where !members.isEmpty: lines = members.map { ($0.name, $0.value) }
        default: return text += self.text
        }
        let isList = lines[0].name == nil
        let margin = String(repeating: "  ", count: depth)
        text += isList ? "[" : "{"
        for (index, line) in lines.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + margin + "  "
            if let name = line.name { text += JSONValue.string(name).text + " : " }
            line.value.indent(depth + 1, into: &text)
        }
        text += "\n" + margin + (isList ? "]" : "}")
    }

    func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.writeNull()
        case .bool(let value): json.write(value)
        case .integer(let value): json.write(value)
        case .number(let value): json.write(value)
        case .string(let text): json.write(text)
        case .array(let values): json.list(values)
        case .object(let members): json.object(members)
        case .written(let bytes): json.write(json: bytes)
        }
    }

    /// The value in a table; nil for null.
    var cell: String? {
        switch self {
        case .null: nil
        case .string(let text): text
        case .bool(let value): value ? "yes" : "no"
        default: text
        }
    }
}

// Not by `nil`: where a member may be missing, it would not be clear whether `nil` leaves it out or writes `null`.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// `true` or `false`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; its members in the order in which they stand.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
