import SwiftASN1

/// A PKCS#7 container of signed data (RFC 2315 section 9, RFC 5652 section 5), parsed and not trusted.
///
/// Read as BER: App Store receipts come with indefinite lengths and with their content in pieces. The signature covers
/// the content's own bytes, however they were cut.
struct SignedContainer {
    /// The signed content.
    let content: [UInt8]
    /// The DER texts of the enclosed certificates.
    let certificates: [[UInt8]]
    /// The signature; nil for an unsigned container.
    let signature: Signature?

    /// One signature over the content.
    struct Signature {
        /// Names the signer's certificate.
        let signer: ReceiptChain.Signer
        /// The digest algorithm's name.
        let digestAlgorithm: ASN1ObjectIdentifier
        /// The signed attributes as a set, where the signature covers these instead of the content.
        let attributes: [UInt8]?
        /// The content's digest among the attributes.
        let messageDigest: [UInt8]?
        /// The signature.
        let bytes: [UInt8]
    }

    static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    private static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]

    /// Parses a container.
    ///
    /// - Throws: ``ReceiptFault``.
    init(_ bytes: [UInt8]) throws(ReceiptFault) {
        let outer = try ASN1Bounds.parse(bytes[...]).children(.sequence)
        guard outer.count == 2, try outer[0].identifierValue() == Self.signedData else { throw .notPKCS7 }
        // version, digestAlgorithms, contentInfo, certificates [0], crls [1], signerInfos
        let parts = try outer[1].only(.tag(0)).children(.sequence)
        guard parts.count >= 3 else { throw .notPKCS7 }
        let inner = try parts[2].children(.sequence)
        guard inner.count == 2, try inner[0].identifierValue() == Self.data else { throw .notPKCS7 }
        content = try inner[1].only(.tag(0)).octets()
        var certificates: [[UInt8]] = []
        for part in parts.dropFirst(3) where part.identifier == .tag(0) {
            certificates += try part.children().map { Array($0.encodedBytes) }
        }
        self.certificates = certificates
        guard let signers = parts.dropFirst(3).last, signers.identifier == .set else {
            signature = nil
            return
        }
        let all = try signers.children()
        // Apple's have one. Of several signatures, each would have to be verified.
        guard all.count <= 1 else { throw .notPKCS7 }
        if let signer = all.first { signature = try Self.signature(signer) } else { signature = nil }
    }

    /// version, issuerAndSerialNumber, digestAlgorithm, attributes [0], signatureAlgorithm, signature, attributes [1]
    private static func signature(_ node: ASN1Node) throws(ReceiptFault) -> Signature {
        var parts = try node.children(.sequence)[...]
        guard parts.count >= 5 else { throw .notPKCS7 }
        parts.removeFirst()
        let name = try parts.removeFirst().children(.sequence)
        guard name.count == 2 else { throw .notPKCS7 }
        guard let algorithm = try parts.removeFirst().children(.sequence).first else { throw .notPKCS7 }
        var attributes: [UInt8]?
        var digest: [UInt8]?
        if let list = parts.first, list.identifier == .tag(0) {
            parts.removeFirst()
            // The container has them under a tag of its own; the signature covers them as a set (RFC 5652
            // section 5.4).
            attributes = [0x31] + list.encodedBytes.dropFirst()
            for attribute in try list.children() {
                let pair = try attribute.children(.sequence)
                guard pair.count == 2, try pair[0].identifierValue() == messageDigest else { continue }
                guard digest == nil else { throw .notPKCS7 }
                digest = try pair[1].only(.set).octets()
            }
        }
        // The signature algorithm's name is not read: Apple's say rsaEncryption, and the digest's name gives the rest.
        guard parts.count >= 2 else { throw .notPKCS7 }
        return Signature(
            signer: ReceiptChain.Signer(
                issuer: Array(name[0].encodedBytes), serialNumber: try name[1].bytes(.integer)),
            digestAlgorithm: try algorithm.identifierValue(), attributes: attributes, messageDigest: digest,
            bytes: try parts[parts.startIndex + 1].octets())
    }
}
