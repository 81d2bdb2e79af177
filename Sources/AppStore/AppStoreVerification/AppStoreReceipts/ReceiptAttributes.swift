import AppStorePayloads
import Base
import SwiftASN1

/// A set of receipt attributes, each a type, a version and a value (Apple, Validating receipts on the device).
/// Unneeded and unreadable attributes are ignored, and so are texts that are too long for a key: one odd attribute must not lose a
/// purchase.
struct ReceiptAttributes {
    private let values: [(type: Int, value: [UInt8])]

    /// - Throws: ``ReceiptFault``.
    init(_ bytes: [UInt8]) throws(ReceiptFault) {
        var root = try ASN1Bounds.parse(bytes[...])
        // Receipts of Xcode's have an octet string around the set.
        if root.identifier == .octetString { root = try ASN1Bounds.parse(try root.octets()[...]) }
        guard root.identifier == .set, case .constructed(let nodes) = root.content else { throw .notAttributes }
        var values: [(type: Int, value: [UInt8])] = []
        for node in nodes {
            guard let parts = try? node.children(.sequence), parts.count >= 3,
                let type = try? Int(berEncoded: parts[0]), let value = try? parts[2].octets()
            else { continue }
            values.append((type, value))
        }
        self.values = values
    }

    /// The first attribute of a type, as a text of any kind that Apple uses.
    func text(_ type: Int) -> String? { first(type).flatMap(Self.text) }

    /// The first attribute of a type, as an instant, which Apple writes as RFC 3339 in UTC; an empty text is none.
    func date(_ type: Int) -> Timestamp? { text(type).flatMap { Timestamp(iso8601: $0) } }

    /// The first attribute of a type, as a whole number.
    func integer(_ type: Int) -> Int64? {
        guard let value = first(type), let node = try? ASN1Bounds.parse(value[...]) else { return nil }
        return try? Int64(berEncoded: node)
    }

    /// The first attribute of a type, as bytes.
    func first(_ type: Int) -> [UInt8]? { values.first { $0.type == type }?.value }

    /// All attributes of a type.
    func all(_ type: Int) -> [[UInt8]] { values.filter { $0.type == type }.map(\.value) }

    private static func text(_ value: [UInt8]) -> String? {
        guard let node = try? ASN1Bounds.parse(value[...]), case .primitive(let bytes) = node.content,
            [ASN1Identifier.utf8String, .ia5String, .printableString].contains(node.identifier),
            bytes.count <= TextMember.transactionId.most, !bytes.contains(0)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
