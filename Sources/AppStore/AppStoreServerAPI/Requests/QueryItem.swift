import AppStorePayloads
import Base

/// A name and a value in a URL's query. One name may stand there several times.
public struct QueryItem: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, not encoded.
    public var value: String

    /// Creates an item.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// An item for a value, if there is one.
    static func optional(_ name: String, _ value: String?) -> [QueryItem] {
        value.map { [QueryItem(name, $0)] } ?? []
    }

    /// An item for an instant in milliseconds, if there is one.
    static func optional(_ name: String, _ value: Timestamp?) -> [QueryItem] {
        optional(name, value.map { String($0.millisecondsSince1970) })
    }

    /// An item for each value.
    static func each(_ name: String, _ values: [String]) -> [QueryItem] { values.map { QueryItem(name, $0) } }

    /// The text after the question mark.
    static func text(_ items: [QueryItem]) -> String {
        items.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

/// Text for a URL: everything but RFC 3986's unreserved characters is encoded, so that no value becomes another path or query.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// A path of these parts. A part of dots alone would be taken for a way up.
    static func path(_ parts: [String]) -> String {
        parts.map { part in
            "/" + (part.allSatisfy { $0 == "." } ? part.replacing(".", with: "%2E") : encode(part))
        }.joined()
    }
}
