import AppStorePayloads
import Base

/// A JSON object, written member by member in the order in which they are added.
///
/// An event is written in the transaction that causes it, so writing one has to cost next to nothing: all of it goes into one
/// buffer.
struct JSONText {
    private var bytes: [UInt8] = []
    /// Whether the object at hand has no member so far.
    private var isEmpty = true

    /// - Parameter capacity: bytes that there is to be room for from the beginning.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Appends members to what there is.
    static func write(to bytes: inout [UInt8], _ members: (inout JSONText) -> Void) {
        var json = JSONText()
        swap(&json.bytes, &bytes)
        members(&json)
        swap(&json.bytes, &bytes)
    }

    /// The object.
    var object: String { "{\(String(decoding: bytes, as: UTF8.self))}" }

    mutating func add(_ name: StaticString, _ value: String?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.appendJSON(value)
    }

    mutating func add(_ name: StaticString, _ value: Int64?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func add(_ name: StaticString, _ value: Bool?) {
        begin(name)
        guard let value else { return appendNull() }
        append(literal: value ? "true" : "false")
    }

    mutating func add(_ name: StaticString, _ value: Timestamp?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(UInt8(ascii: "\""))
        value.write(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ name: StaticString, _ value: UniqueIdentifier?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(UInt8(ascii: "\""))
        value.write(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// An object within this one; nothing for null.
    mutating func add<Value>(
        _ name: StaticString, _ value: Value?, _ write: (Value, inout JSONText) -> Void
    ) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(UInt8(ascii: "{"))
        isEmpty = true
        write(value, &self)
        bytes.append(UInt8(ascii: "}"))
        isEmpty = false
    }

    /// - Parameter members: written already, at least one.
    mutating func addMembers(_ members: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(contentsOf: members.utf8)
    }

    private mutating func begin(_ name: StaticString) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(UInt8(ascii: "\""))
        append(literal: name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(literal: StaticString) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func appendNull() { append(literal: "null") }
}
