/// A place among the pages, as a link names it. No personal data: places are written into histories and logs.
struct Place: Sendable, Hashable {
    /// The parts of its path, as they are.
    var parts: [String]
    /// The values of its query.
    var query: [String: String]

    /// A place; values that are nil are left out.
    init(_ parts: String..., query: [String: String?] = [:]) {
        self.init(parts: parts, query: query)
    }

    /// The same.
    init(parts: [String], query: [String: String?] = [:]) {
        self.parts = parts
        self.query = query.compactMapValues { $0 }
    }

    /// The same place with another value in its query.
    func with(_ name: String, _ value: String?) -> Place {
        var place = self
        place.query[name] = value
        return place
    }

    /// The path, without what stands before it behind a proxy: `/orders/ORD-20260131-0001`.
    var path: String { "/" + parts.map { Self.encoded($0) }.joined(separator: "/") }

    /// The path and the query. Values stand in the order of their names, so that equal places are equal texts.
    var text: String {
        let values = query.sorted { $0.key < $1.key }.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }
        return values.isEmpty ? path : "\(path)?\(values.joined(separator: "&"))"
    }

    /// Everything but what stands for itself wherever it stands (RFC 3986, 2.3).
    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
