package import Postgres

/// Apple's bytes as a row of the outbox holds them. What they stand for, ``SignatureHeaders`` tells.
///
/// Read from one column of type `bytea`, the packing in two bytes before the body: `int2send(packing) || body`. So a scalar
/// subquery can fetch both.
package struct StoredBody: Sendable, Hashable, PostgresDecodable {
    /// How the bytes of an outbox's row are to be read, as the schema's check numbers it.
    enum Packing: Int {
        /// As they were posted.
        case verbatim
        /// As ``PackedBody`` has it.
        case headersByDigest
    }

    package let packing: Int
    package let bytes: [UInt8]

    /// Packs a body as far as that is possible.
    init(packing body: [UInt8], knowing headers: [SignatureHeader]) {
        if let packed = PackedBody.pack(body, knowing: headers) {
            packing = Packing.headersByDigest.rawValue
            bytes = packed
        } else {
            packing = Packing.verbatim.rawValue
            bytes = body
        }
    }

    private init(packing: Int, bytes: [UInt8]) {
        self.packing = packing
        self.bytes = bytes
    }

    /// Reads both.
    package static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> StoredBody {
        let both: [UInt8] = try .decode(bytes, type: type)
        guard both.count >= 2 else { throw PostgresValueError(wanted: "StoredBody", got: "\(type) without a packing") }
        return StoredBody(
            packing: Int(Int16(bitPattern: UInt16(both[0]) << 8 | UInt16(both[1]))), bytes: Array(both[2...]))
    }

    /// The digests of the headers without which it cannot be read.
    var digests: [[UInt8]] {
        guard packing == Packing.headersByDigest.rawValue else { return [] }
        return (try? PackedBody.digests(in: bytes)) ?? []
    }

    /// The bytes that were posted.
    func open(_ header: ([UInt8]) -> [UInt8]?) throws(UnreadableBody) -> [UInt8] {
        switch Packing(rawValue: packing) {
        case .verbatim: bytes
        case .headersByDigest: try PackedBody.unpack(bytes, header)
        case nil: throw .unknownPacking(packing)
        }
    }
}
