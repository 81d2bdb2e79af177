import AppStorePayloads
import Crypto

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A JWS in compact form, split but not trusted (RFC 7515 section 7.1).
struct CompactJWS {
    /// The whole text.
    let text: [UInt8]
    /// The end of the header segment: the first dot.
    let headerEnd: Int
    /// The end of the payload segment: the second dot.
    let payloadEnd: Int

    /// Finds the three segments.
    ///
    /// - Throws: `malformed` for a text with fewer or more.
    init(_ text: [UInt8]) throws(VerificationFailure) {
        guard let first = Self.firstDot(text, from: 0), let last = Self.firstDot(text, from: first + 1),
            Self.firstDot(text, from: last + 1) == nil
        else { throw VerificationFailure(.malformed, "Not a JWS: a compact JWS has three segments.") }
        self.text = text
        headerEnd = first
        payloadEnd = last
    }

    var headerSegment: ArraySlice<UInt8> { text[..<headerEnd] }

    /// The header's JSON text.
    func header() throws(VerificationFailure) -> [UInt8] { try decode(text[..<headerEnd], "header") }

    /// The payload's JSON text.
    func payload() throws(VerificationFailure) -> [UInt8] { try decode(text[(headerEnd + 1)..<payloadEnd], "payload") }

    /// The signature's bytes.
    func signature() throws(VerificationFailure) -> [UInt8] { try decode(text[(payloadEnd + 1)...], "signature") }

    /// Adds the header and its dot to a hash.
    func hashHeader(into hash: inout SHA256) {
        text.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[...headerEnd])) }
    }

    /// Adds the header without its dot to a hash.
    func hashHeaderSegment(into hash: inout SHA256) {
        text.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<headerEnd])) }
    }

    /// Adds the payload segment, between the two dots, to a hash.
    func hashPayload(into hash: inout SHA256) {
        text.withUnsafeBytes {
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[(headerEnd + 1)..<payloadEnd]))
        }
    }

    /// Whether the header is this one, byte for byte.
    func hasHeader(_ other: CompactJWS) -> Bool {
        guard headerEnd == other.headerEnd else { return false }
        return text.withUnsafeBytes { mine in
            other.text.withUnsafeBytes { theirs in
                guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return false }
                return memcmp(mine, theirs, headerEnd) == 0
            }
        }
    }

    /// The C library's search: the segments are long, and it looks at many bytes at once.
    private static func firstDot(_ text: [UInt8], from start: Int) -> Int? {
        text.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(UInt8(ascii: ".")), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func decode(_ segment: ArraySlice<UInt8>, _ name: String) throws(VerificationFailure) -> [UInt8] {
        guard let bytes = segment.withUnsafeBufferPointer({ Base64.url.decode($0) }) else {
            throw VerificationFailure(.malformed, "The JWS's \(name) is not base64url without padding.")
        }
        return bytes
    }
}
