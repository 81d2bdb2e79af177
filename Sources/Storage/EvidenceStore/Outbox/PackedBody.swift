#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A notification without the headers that the database holds already.
///
/// Two thirds of a subscription notification are three copies of the same certificates, those inside the payload in
/// base64 once more. Packed bytes name each known header by its SHA-256, and hold base64url as the bytes that it
/// encodes; everything else is unchanged. The form:
///
///     packed  = varint(length of the whole JWS) · count of headers (1 byte) · their digests (32 bytes each) · pieces
///     piece   = varint(number × 4 + kind) · contents
///     kind 0  = the next `number` bytes, as they are
///     kind 1  = the header of that number
///     kind 2  = base64url of the next `number` bytes
///     kind 3  = base64url of what the pieces in the next `number` bytes make; not within another of its kind
///
/// Varints are little-endian groups of seven bits, the eighth set where another follows. Nothing in it is trusted: a
/// number that asks for more than the longest JWS is refused.
package enum PackedBody {
    /// The longest JWS that packed bytes encode, in bytes.
    static let maximumSize = Outbox.maximumBodySize

    enum Kind: Int {
        case literal, header, base64, nested
    }

    /// The digests that packed bytes name.
    /// - Throws: ``UnreadableBody/damaged``.
    static func digests(in packed: [UInt8]) throws(UnreadableBody) -> [[UInt8]] {
        var reader = PackedBodyReader(packed)
        return try reader.start().digests
    }

    /// The JWS that packed bytes encode.
    /// - Parameter header: the header of a digest, nil if it is not known.
    /// - Throws: ``UnreadableBody``.
    package static func unpack(
        _ packed: [UInt8], _ header: (_ digest: [UInt8]) -> [UInt8]?
    ) throws(UnreadableBody) -> [UInt8] {
        var reader = PackedBodyReader(packed)
        let (length, digests) = try reader.start()
        for digest in digests {
            guard let text = header(digest) else { throw .missingHeader(digest) }
            reader.headers.append(text)
        }
        var body: [UInt8] = []
        body.reserveCapacity(length)
        try reader.expand(upTo: packed.count, into: &body, limit: length, mayNest: true)
        guard body.count == length else { throw .damaged }
        return body
    }

    /// The JWS's packed form; nil where there is none that is shorter and unpacks to the same bytes.
    ///
    /// Any bytes may be passed. The packed form is unpacked again and compared byte for byte.
    /// - Parameter headers: the headers that may be named, the most used first.
    package static func pack(_ body: [UInt8], knowing headers: [SignatureHeader]) -> [UInt8]? {
        guard body.count <= maximumSize, !headers.isEmpty else { return nil }
        var writer = PackedBodyWriter(headers: headers)
        guard let packed = writer.pack(body), packed.count < body.count else { return nil }
        // Few: a search through them is quicker than a table.
        let unpacked = try? unpack(packed) { digest in writer.used.first { $0.digest == digest }?.text }
        return unpacked?.isIdentical(to: body) == true ? packed : nil
    }
}

extension [UInt8] {
    /// Like `==`, which compares byte by byte: for a notification that takes longer than writing it to a socket.
    fileprivate func isIdentical(to other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in
                guard let bytes = bytes.baseAddress, let others = others.baseAddress else { return true }
                return memcmp(bytes, others, count) == 0
            }
        }
    }
}
