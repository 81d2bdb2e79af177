/// Writes JSON without white space, in the order of the calls.
///
/// An event is written in the transaction that causes it, so writing one must cost next to nothing: all of it goes
/// into one buffer. Less frequent output is made as a ``JSONValue``, which uses this, too.
package struct JSONWriter {
    /// The written bytes, in UTF-8.
    package private(set) var bytes: [UInt8] = []
    /// The written text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
    /// Whether the current object or list is empty so far.
    private var isEmpty = true

    /// - Parameter capacity: how many bytes to reserve.
    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Appends the members of an object, without its braces, to a buffer.
    package static func appendMembers(to bytes: inout [UInt8], _ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        swap(&json.bytes, &bytes)
        members(&json)
        swap(&json.bytes, &bytes)
    }

    // MARK: Members

    /// A member, or null.
    package mutating func add(_ name: StaticString, _ value: String?) {
        begin(name)
        if let value { write(value) } else { writeNull() }
    }

    /// A member, or null.
    package mutating func add(_ name: StaticString, _ value: Int64?) {
        begin(name)
        if let value { write(value) } else { writeNull() }
    }

    /// A member, or null.
    package mutating func add(_ name: StaticString, _ value: Bool?) {
        begin(name)
        if let value { write(value) } else { writeNull() }
    }

    /// A member as RFC 3339 has it, or null.
    package mutating func add(_ name: StaticString, _ value: Timestamp?) {
        begin(name)
        guard let value else { return writeNull() }
        bytes.append(UInt8(ascii: "\""))
        value.write(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A member, or null.
    package mutating func add(_ name: StaticString, _ value: UniqueIdentifier?) {
        begin(name)
        guard let value else { return writeNull() }
        bytes.append(UInt8(ascii: "\""))
        value.write(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// An object within this one, or null.
    package mutating func add<Value>(
        _ name: StaticString, _ value: Value?, _ write: (Value, inout JSONWriter) -> Void
    ) {
        begin(name)
        guard let value else { return writeNull() }
        object { write(value, &$0) }
    }

    /// - Parameter members: serialized members, at least one.
    package mutating func addMembers(_ members: String) {
        separate()
        bytes.append(contentsOf: members.utf8)
    }

    private mutating func begin(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(literal: name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    // MARK: Values

    /// An object, whose members the closure adds.
    package mutating func object(_ members: (inout JSONWriter) -> Void) { enclose("{", members, "}") }

    mutating func list(_ elements: [JSONValue]) {
        enclose("[", { json in for element in elements { json.separate(); element.write(to: &json) } }, "]")
    }

    mutating func object(_ members: [JSONValue.Member]) {
        object { json in
            for member in members {
                json.separate()
                json.write(member.name)
                json.bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &json)
            }
        }
    }

    mutating func write(_ text: String) { bytes.appendJSON(text) }
    mutating func write(_ number: Int64) { bytes.append(contentsOf: String(number).utf8) }
    mutating func write(_ flag: Bool) { append(literal: flag ? "true" : "false") }
    mutating func writeNull() { append(literal: "null") }

    /// A finite number; whole ones without a fraction.
    mutating func write(_ number: Double) {
        if let whole = Int64(exactly: number) { write(whole) } else { bytes.append(contentsOf: "\(number)".utf8) }
    }

    /// JSON that is written already.
    mutating func write(json: [UInt8]) { bytes.append(contentsOf: json) }

    private mutating func enclose(_ open: StaticString, _ content: (inout JSONWriter) -> Void, _ close: StaticString) {
        append(literal: open)
        isEmpty = true
        content(&self)
        append(literal: close)
        isEmpty = false
    }

    private mutating func separate() {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
    }

    private mutating func append(literal: StaticString) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Appends a text as JSON: between quotes, and with the necessary escapes.
    package mutating func appendJSON(_ text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            // Almost no text needs an escape.
            if text.allSatisfy(isPlain) { return append(contentsOf: text) }
            for byte in text {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\n"): self += "\\n".utf8
                case _ where !isPlain(byte):
                    let digits = String(byte, radix: 16)
                    self += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
                default: append(byte)
                }
            }
        }
        append(UInt8(ascii: "\""))
    }
}

/// Neither a quote nor a backslash nor a control character.
private func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
}
