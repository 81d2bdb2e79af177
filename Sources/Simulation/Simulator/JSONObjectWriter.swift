/// Writes one JSON object, members in the order in which they are given, without white space, as Apple does.
///
/// Only what the simulated payloads need: strings, whole numbers, booleans, null, objects and arrays. A member without a value
/// is left out, for Apple leaves it out too.
struct JSONObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var isEmpty = true

    /// The finished object's UTF-8.
    static func object(capacity: Int = 1024, _ write: (inout JSONObjectWriter) throws -> Void) rethrows -> [UInt8] {
        var writer = JSONObjectWriter()
        writer.bytes.reserveCapacity(capacity)
        try write(&writer)
        writer.bytes.append(UInt8(ascii: "}"))
        return writer.bytes
    }

    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        Self.append(value, to: &bytes)
    }

    mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func member(_ name: StaticString, _ value: Int?) {
        member(name, value.map(Int64.init))
    }

    mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func null(_ name: StaticString) {
        key(name)
        bytes.append(contentsOf: "null".utf8)
    }

    mutating func member(_ name: StaticString, _ values: [String]?) {
        guard let values else { return }
        key(name)
        list(values) { Self.append($0, to: &$1) }
    }

    mutating func object(_ name: StaticString, _ write: (inout JSONObjectWriter) throws -> Void) rethrows {
        key(name)
        bytes.append(contentsOf: try Self.object(capacity: 256, write))
    }

    mutating func objects<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONObjectWriter) -> Void
    ) {
        key(name)
        list(elements) { element, bytes in
            bytes.append(contentsOf: Self.object(capacity: 256) { write(element, &$0) })
        }
    }

    private mutating func list<Element>(_ elements: [Element], _ write: (Element, inout [UInt8]) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element, &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func key(_ name: StaticString) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    }

    /// Escapes what RFC 8259 section 7 says must be: quotation mark, reverse solidus and U+0000 to U+001F.
    private static func append(_ value: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case 0x0D: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
            case 0x09: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xF)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
