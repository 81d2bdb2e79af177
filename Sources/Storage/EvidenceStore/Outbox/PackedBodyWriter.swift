import AppStorePayloads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes packed bytes; see ``PackedBody`` for their form.
///
/// It looks for the shape of Apple's notifications and leaves everything else as it is. Its result for bytes that only
/// resemble that shape may be wrong: ``PackedBody/pack(_:knowing:)`` compares.
struct PackedBodyWriter {
    /// A payload of Apple's has some thirty dots. One with thousands is not Apple's, and would cost a search at each.
    private static let mostDots = 256
    /// A signature has 86 characters (RFC 7518 section 3.4). A part's end is looked for no further than this.
    private static let longestSignature = 200

    private let headers: [SignatureHeader]
    /// The named headers, by their numbers.
    private(set) var used: [SignatureHeader] = []

    init(headers: [SignatureHeader]) { self.headers = headers }

    /// The whole form; nil if this is not a JWS with a known header.
    mutating func pack(_ body: [UInt8]) -> [UInt8]? {
        guard let headerEnd = body.firstDot(from: 0), let header = known(before: headerEnd, in: body, from: 0),
            header.text.count == headerEnd, let payloadEnd = body.firstDot(from: headerEnd + 1),
            let payload = body[(headerEnd + 1)..<payloadEnd].fromBase64,
            let signature = body[(payloadEnd + 1)...].fromBase64,
            let inner = pieces(of: payload, after: header)
        else { return nil }
        var pieces: [UInt8] = []
        pieces.append(.header, number(of: header))
        pieces.appendDot()
        pieces.append(.nested, inner.count)
        pieces += inner
        pieces.appendDot()
        pieces.append(base64: signature)
        var packed: [UInt8] = []
        packed.append(varint: body.count)
        packed.append(UInt8(used.count))
        for header in used { packed += header.digest }
        return packed + pieces
    }

    /// A payload's pieces: each JWS in it taken apart, the rest as it is. Nil if it has too many dots.
    private mutating func pieces(of payload: [UInt8], after outer: SignatureHeader) -> [UInt8]? {
        _ = number(of: outer)
        var pieces: [UInt8] = []
        /// Everything before this is written.
        var written = 0
        var from = 0
        var dots = 0
        while let dot = payload.firstDot(from: from) {
            dots += 1
            guard dots <= Self.mostDots else { return nil }
            from = dot + 1
            guard let header = known(before: dot, in: payload, from: written) else { continue }
            // One byte counts the headers.
            guard used.contains(header) || used.count < 255 else { return nil }
            pieces.append(literal: payload[written..<(dot - header.text.count)])
            pieces.append(.header, number(of: header))
            written = dot
            guard let middle = payload.firstDot(from: from), let part = payload[from..<middle].fromBase64,
                let end = payload[(middle + 1)...].prefix(Self.longestSignature).firstIndex(of: UInt8(ascii: "\"")),
                let signature = payload[(middle + 1)..<end].fromBase64
            else { continue }
            pieces.appendDot()
            pieces.append(base64: part)
            pieces.appendDot()
            pieces.append(base64: signature)
            written = end
            from = end
        }
        pieces.append(literal: payload[written...])
        return pieces
    }

    /// The header that ends at this dot and begins no earlier than `start`.
    private func known(before dot: Int, in bytes: [UInt8], from start: Int) -> SignatureHeader? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return headers.first { header in
                let count = header.text.count
                return count <= dot - start
                    && header.text.withUnsafeBytes { text in
                        text.baseAddress.map { memcmp($0, base + dot - count, count) == 0 } ?? false
                    }
            }
        }
    }

    private mutating func number(of header: SignatureHeader) -> Int {
        if let number = used.firstIndex(where: { $0.digest == header.digest }) { return number }
        used.append(header)
        return used.count - 1
    }
}

extension [UInt8] {
    /// The C library's search looks at many bytes at once.
    fileprivate func firstDot(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(UInt8(ascii: ".")), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    fileprivate mutating func append(varint number: Int) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    fileprivate mutating func append(_ kind: PackedBody.Kind, _ number: Int) {
        append(varint: number << 2 | kind.rawValue)
    }

    fileprivate mutating func append(literal bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        append(.literal, bytes.count)
        append(contentsOf: bytes)
    }

    fileprivate mutating func append(base64 bytes: [UInt8]) {
        append(.base64, bytes.count)
        append(contentsOf: bytes)
    }

    fileprivate mutating func appendDot() { append(literal: [UInt8(ascii: ".")]) }
}

extension ArraySlice<UInt8> {
    /// Nil unless this is the canonical encoding of its bytes, so that encoding them gives this text again.
    fileprivate var fromBase64: [UInt8]? { withUnsafeBufferPointer { Base64.url.decode($0) } }
}
