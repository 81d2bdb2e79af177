import AppStorePayloads

/// A token taken apart (RFC 7515, section 7.1), nothing of it believed.
///
/// jwt-kit verifies the signature, but its parser is not strict enough to take tokens apart: it reads base64url with padding and with
/// the letters of plain base64, so that one token has several spellings; it takes the last of two members of the same name; and it
/// heeds neither `crit` nor `alg`.
struct TokenParts: Sendable {
    /// The algorithm that it says it was signed by.
    let algorithm: TokenKey.Algorithm
    /// The name of the key.
    let identifier: String?
    /// What was signed.
    let signed: [UInt8]
    let claims: [UInt8]
    let signature: [UInt8]

    /// - Throws: ``TokenRefusal``: `malformed` or `algorithm`.
    init(_ token: [UInt8]) throws(TokenRefusal) {
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64.url.decode(Array(parts[0])),
            let claims = Base64.url.decode(Array(parts[1])), let signature = Base64.url.decode(Array(parts[2])),
            let header = try? JSONDocument(headerBytes).object, let name = header.string("alg"),
            // What has to be understood and is not (RFC 7515, section 4.1.11).
            !header.has("crit")
        else { throw .malformed }
        guard let algorithm = TokenKey.Algorithm(rawValue: name) else { throw .algorithm }
        guard !header.has("kid") || header.string("kid") != nil else { throw .malformed }
        self.algorithm = algorithm
        identifier = header.string("kid")
        signed = Array(token.prefix(parts[0].count + 1 + parts[1].count))
        self.claims = claims
        self.signature = signature
    }
}
