import AppStorePayloads

/// Members of a JSON object, written one after the other in the order in which they are added.
///
/// An event is written in the transaction that causes it, so writing one has to cost next to nothing.
struct JSONText {
    private(set) var text = ""

    /// The object.
    var object: String { "{\(text)}" }

    mutating func add(_ name: StaticString, _ value: String?) {
        begin(name)
        guard let value else { return text += "null" }
        Self.append(value, to: &text)
    }

    mutating func add(_ name: StaticString, _ value: Int64?) { addLiteral(name, value.map { "\($0)" } ?? "null") }

    mutating func add(_ name: StaticString, _ value: Bool?) {
        addLiteral(name, value.map { $0 ? "true" : "false" } ?? "null")
    }

    mutating func add(_ name: StaticString, _ value: Timestamp?) { add(name, value?.description) }

    /// - Parameter json: an object or another value, written already; nil for none.
    mutating func addLiteral(_ name: StaticString, _ json: String?) {
        begin(name)
        text += json ?? "null"
    }

    /// - Parameter members: written already, at least one.
    mutating func addMembers(_ members: String) {
        if !text.isEmpty { text += "," }
        text += members
    }

    private mutating func begin(_ name: StaticString) {
        if !text.isEmpty { text += "," }
        text += "\"\(name)\":"
    }

    private static func append(_ value: String, to text: inout String) {
        text += "\""
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            text += value
        } else {
            for scalar in value.unicodeScalars {
                switch scalar {
                case "\"": text += "\\\""
                case "\\": text += "\\\\"
                case "\u{0}"..<"\u{20}":
                    let digits = String(scalar.value, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "\""
    }
}
