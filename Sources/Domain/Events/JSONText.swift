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
        var bytes: [UInt8] = []
        bytes.appendJSON(value)
        text += String(decoding: bytes, as: UTF8.self)
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
}
