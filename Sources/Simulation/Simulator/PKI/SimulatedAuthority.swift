import AppStorePayloads
import Crypto
import SwiftASN1

/// Stands in for Apple as a signer: a chain of Apple's shape and the key of its leaf.
///
/// Signing costs one SHA-256 over the payload and one P-256 signature; the header with its three certificates is made once.
public struct SimulatedAuthority: Sendable {
    /// The certificates of the header, the signing one first.
    public let chain: [SimulatedCertificate]
    /// SHA-256 of the last certificate of the chain, 64 hexadecimal digits in lower case: what a verifier has to trust.
    public let rootFingerprint: String
    /// The header segment of everything this authority signs, base64url.
    public let headerSegment: [UInt8]

    private let signingKey: P256.Signing.PrivateKey
    /// SHA-256 that has already taken in the header and the dot after it.
    private let headerHash: SHA256

    /// Makes new keys and a chain of root, intermediate and leaf for them.
    ///
    /// - Throws: What the certificate library says about a shape that cannot be written, or ``SimulatedAuthorityError``.
    public static func generate(
        root: CertificateShape = .root, intermediate: CertificateShape = .intermediate, leaf: CertificateShape = .leaf
    ) throws -> SimulatedAuthority {
        let root = try SimulatedCertificate(root)
        let intermediate = try SimulatedCertificate(intermediate, issuer: root)
        return try SimulatedAuthority(
            chain: [SimulatedCertificate(leaf, issuer: intermediate), intermediate, root])
    }

    /// Takes any certificates for a chain, in any number and whether or not they belong together; the first one's key signs.
    ///
    /// - Throws: ``SimulatedAuthorityError`` for an empty chain, or one whose first key is not P-256 and so cannot sign ES256.
    public init(chain: [SimulatedCertificate]) throws {
        guard let leaf = chain.first, let last = chain.last, case .p256(let key) = leaf.key else {
            throw SimulatedAuthorityError(message: "The first certificate of a simulated chain needs a P-256 key.")
        }
        self.chain = chain
        signingKey = key
        rootFingerprint = Self.hexadecimal(SHA256.hash(data: last.der))
        headerSegment = Base64.url.encode(Self.headerText(alg: "ES256", certificates: chain.map(\.der)))
        var hash = SHA256()
        hash.update(data: headerSegment)
        hash.update(data: [UInt8(ascii: ".")])
        headerHash = hash
    }

    /// The compact JWS over the payload's JSON text.
    public func sign(_ payload: [UInt8]) -> String {
        let segment = Base64.url.encode(payload)
        var hash = headerHash
        hash.update(data: segment)
        return assemble(header: headerSegment, payload: segment, signature: rawSignature(hash.finalize()))
    }

    /// The compact JWS over the payload's JSON text.
    public func sign(_ payload: String) -> String { sign(Array(payload.utf8)) }

    /// The compact JWS under another header than the usual one, given as JSON text; truly signed with the leaf's key.
    public func sign(_ payload: [UInt8], header: [UInt8]) -> String {
        let headerSegment = Base64.url.encode(header)
        let segment = Base64.url.encode(payload)
        var hash = SHA256()
        hash.update(data: headerSegment)
        hash.update(data: [UInt8(ascii: ".")])
        hash.update(data: segment)
        return assemble(header: headerSegment, payload: segment, signature: rawSignature(hash.finalize()))
    }

    /// The JSON text of a header as Apple writes it: `alg`, then `x5c` in standard base64.
    public static func headerText(alg: String, certificates: [[UInt8]]) -> [UInt8] {
        var text = Array("{\"alg\":\"\(alg)\",\"x5c\":[".utf8)
        for (index, certificate) in certificates.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(UInt8(ascii: "\""))
            text.append(contentsOf: Base64.standard.encode(certificate))
            text.append(UInt8(ascii: "\""))
        }
        text.append(contentsOf: "]}".utf8)
        return text
    }

    /// ES256: the two numbers r and s, 32 bytes each.
    private func rawSignature(_ digest: SHA256.Digest) -> [UInt8] {
        // P-256 over a digest fails only if the system has no randomness; an empty signature then fails every verification.
        guard let signature = try? signingKey.signature(for: digest) else { return [] }
        return signature.withUnsafeBytes { Array($0) }
    }

    private func assemble(header: [UInt8], payload: [UInt8], signature: [UInt8]) -> String {
        var text = header
        text.reserveCapacity(header.count + payload.count + 88)
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: payload)
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: Base64.url.encode(signature))
        return String(decoding: text, as: UTF8.self)
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
