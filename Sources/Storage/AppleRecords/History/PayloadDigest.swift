import Crypto

/// The SHA-256 of what was signed, as it stands in a JWS: the segment between its dots. It stays the same whatever way the JWS
/// came, and needs nothing to be read.
struct PayloadDigest: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Of these bytes; of what is no JWS, of all of it.
    init(of jws: [UInt8]) {
        let segments = jws.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        bytes = Array(SHA256.hash(data: segments.count == 3 ? segments[1] : jws[...]))
    }
}
