package import Postgres
import Subscriptions

/// Apple's bytes as an outbox row holds them; ``SignatureHeaders`` unpacks them.
///
/// Read from one column of type `bytea`: two bytes with the packing, 256 times the kind's number and 4096 times the
/// source's, then the body. So a scalar subquery can fetch all of it.
package struct StoredBody: Sendable, Hashable, PostgresDecodable {
    /// How an outbox row's bytes are packed; the numbers are those of the schema's check.
    enum Packing: Int {
        /// As they were posted.
        case verbatim
        /// As ``PackedBody`` packs them.
        case headersByDigest
    }

    package let packing: Int
    /// Kind and source, from the byte before the packing; 0 for what Apple posts.
    private let origin: Int
    package let bytes: [UInt8]

    /// Packs a body as far as that is possible.
    init(packing body: [UInt8], knowing headers: [SignatureHeader]) {
        origin = 0
        if let packed = PackedBody.pack(body, knowing: headers) {
            packing = Packing.headersByDigest.rawValue
            bytes = packed
        } else {
            packing = Packing.verbatim.rawValue
            bytes = body
        }
    }

    /// A body as it came.
    init(verbatim body: [UInt8]) {
        self.init(packing: Packing.verbatim.rawValue, origin: 0, bytes: body)
    }

    private init(packing: Int, origin: Int, bytes: [UInt8]) {
        self.packing = packing
        self.origin = origin
        self.bytes = bytes
    }

    /// Reads the two bytes and the body.
    package static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> StoredBody {
        let both: [UInt8] = try .decode(bytes, type: type)
        guard both.count >= 2 else { throw PostgresValueError(wanted: "StoredBody", got: "\(type) without a packing") }
        return StoredBody(packing: Int(both[1]), origin: Int(both[0]), bytes: Array(both[2...]))
    }

    /// The digests of the headers that it needs to be readable.
    var digests: [[UInt8]] {
        guard packing == Packing.headersByDigest.rawValue else { return [] }
        return (try? PackedBody.digests(in: bytes)) ?? []
    }

    /// Its kind; nil if this release does not know it.
    var kind: EvidenceKind? { EvidenceKind(number: origin & 0xF) }
    /// Which way it came; nil if this release does not know it.
    var source: EvidenceSource? { EvidenceSource(number: origin >> 4) }

    /// The unpacked evidence.
    func opened(_ header: ([UInt8]) -> [UInt8]?) -> OpenedEvidence {
        guard let kind, let source else {
            return OpenedEvidence(.notification, from: .webhook, .failure(.unknownPacking(origin << 8 | packing)))
        }
        return OpenedEvidence(kind, from: source, Result { () throws(UnreadableBody) in try open(header) })
    }

    /// The posted bytes.
    func open(_ header: ([UInt8]) -> [UInt8]?) throws(UnreadableBody) -> [UInt8] {
        switch Packing(rawValue: packing) {
        case .verbatim: bytes
        case .headersByDigest: try PackedBody.unpack(bytes, header)
        case nil: throw .unknownPacking(packing)
        }
    }
}
