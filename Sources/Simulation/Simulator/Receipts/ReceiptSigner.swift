import Crypto
import SwiftASN1
import X509

/// Signs receipts as PKCS#7 containers. As the App Store does it by default: over the content itself, with three certificates.
public struct ReceiptSigner: Sendable {
    /// How the content's digest is made.
    public enum Digest: Sendable, Hashable, CaseIterable {
        /// As receipts until 2023.
        case sha1
        /// As receipts of today.
        case sha256

        var algorithm: [UInt8] {
            let name: [UInt8] =
                switch self {
                case .sha1: [0x2B, 0x0E, 0x03, 0x02, 0x1A]
                case .sha256: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
                }
            return ReceiptEncoding.value(0x30, ReceiptEncoding.value(0x06, name) + [0x05, 0x00])
        }

        func hash(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .sha1: Array(Insecure.SHA1.hash(data: bytes))
            case .sha256: Array(SHA256.hash(data: bytes))
            }
        }
    }

    /// How the container is written.
    public enum Form: Sendable, Hashable, CaseIterable {
        /// Every length is stated.
        case definite
        /// The content in pieces, as the App Store's.
        case pieces
        /// In pieces, and with marked ends instead of lengths around them.
        case marked
    }

    /// The certificates that come along, the signing one first.
    public var chain: [SimulatedCertificate]
    /// How the content's digest is made.
    public var digest = Digest.sha256
    /// How the container is written.
    public var form = Form.definite
    /// Whether attributes are signed that hold the content's digest, as PKCS#7 tools do it; Apple's sign the content.
    public var signsAttributes = false
    /// In how many attributes the content's digest stands, where attributes are signed; a right container has one.
    public var messageDigests = 1
    /// How many signers the container names: the same one, again and again.
    public var signers = 1
    /// What the signer says its digest was made with, where that is to be another algorithm than it was: the content of an object
    /// identifier.
    public var claimedDigest: [UInt8]?

    /// A signer with this chain; the first certificate's key signs.
    public init(_ chain: [SimulatedCertificate]) { self.chain = chain }

    /// A receipt under keys as the App Store's receipts have them: RSA throughout.
    public static func rsa(
        signedWithSHA1: Bool = false, _ bend: (inout CertificateShape, _ place: Int) -> Void = { _, _ in }
    ) throws -> ReceiptSigner {
        var shapes: [CertificateShape] = [.root, .intermediate, .leaf]
        for place in shapes.indices {
            shapes[place].curve = .rsa2048
            shapes[place].signsWithSHA1 = signedWithSHA1
            bend(&shapes[place], place)
        }
        let root = try SimulatedCertificate(shapes[0])
        let intermediate = try SimulatedCertificate(shapes[1], issuer: root)
        return ReceiptSigner([try SimulatedCertificate(shapes[2], issuer: intermediate), intermediate, root])
    }

    /// SHA-256 of the last certificate, 64 hexadecimal digits: what a verifier has to trust.
    public var rootFingerprint: String {
        SimulatedAuthority.hexadecimal(SHA256.hash(data: chain.last?.der ?? []))
    }

    /// The receipt's DER or BER text.
    ///
    /// - Throws: ``SimulatedAuthorityError`` for an empty chain, or what the library says about a key that cannot sign so.
    public func sign(_ receipt: SimulatedReceipt) throws -> [UInt8] { try sign(receipt.content) }

    /// The same of any content.
    public func sign(_ content: [UInt8]) throws -> [UInt8] {
        guard let leaf = chain.first else { throw SimulatedAuthorityError(message: "Nobody signs the receipt.") }
        let signerInfo = try signerInfo(leaf, content)
        let signerInfos = (0..<signers).flatMap { _ in signerInfo }
        return container(
            content,
            rest: ReceiptEncoding.value(0xA0, chain.flatMap(\.der)) + ReceiptEncoding.value(0x31, signerInfos))
    }

    /// A container without a signature.
    public static func unsigned(_ content: [UInt8]) -> [UInt8] {
        ReceiptSigner([]).container(content, rest: ReceiptEncoding.value(0x31, []))
    }

    private func container(_ content: [UInt8], rest: [UInt8]) -> [UInt8] {
        func nested(_ tag: UInt8, _ inner: [UInt8]) -> [UInt8] {
            form == .marked ? ReceiptEncoding.marked(tag, inner) : ReceiptEncoding.value(tag, inner)
        }
        let octets: [UInt8]
        if form == .definite {
            octets = ReceiptEncoding.value(0x04, content)
        } else {
            let pieces = stride(from: 0, to: content.count, by: 1000).flatMap {
                ReceiptEncoding.value(0x04, Array(content[$0..<min($0 + 1000, content.count)]))
            }
            octets = nested(0x24, pieces)
        }
        let data = ReceiptEncoding.value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
        let signedData = ReceiptEncoding.value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
        let inner =
            ReceiptEncoding.integer(1) + ReceiptEncoding.value(0x31, digest.algorithm)
            + nested(0x30, data + nested(0xA0, octets)) + rest
        return nested(0x30, signedData + nested(0xA0, nested(0x30, inner)))
    }

    private func signerInfo(_ leaf: SimulatedCertificate, _ content: [UInt8]) throws -> [UInt8] {
        var issuer = DER.Serializer()
        try issuer.serialize(leaf.certificate.issuer)
        var serial = Array(leaf.certificate.serialNumber.bytes)
        if serial.first.map({ $0 >= 0x80 }) ?? true { serial.insert(0, at: 0) }
        let name = ReceiptEncoding.value(0x30, issuer.serializedBytes + ReceiptEncoding.value(0x02, serial))
        var signed = content
        var attributes: [UInt8] = []
        if signsAttributes {
            var list = attribute(
                [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03],
                ReceiptEncoding.value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]))
            for _ in 0..<messageDigests {
                list += attribute(
                    [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04],
                    ReceiptEncoding.value(0x04, digest.hash(content)))
            }
            signed = ReceiptEncoding.value(0x31, list)
            attributes = ReceiptEncoding.value(0xA0, list)
        }
        // rsaEncryption, as Apple writes it for whatever digest.
        let algorithm = ReceiptEncoding.value(
            0x30,
            ReceiptEncoding.value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]) + [0x05, 0x00])
        let claimed =
            claimedDigest.map { ReceiptEncoding.value(0x30, ReceiptEncoding.value(0x06, $0)) } ?? digest.algorithm
        let signature = ReceiptEncoding.value(0x04, try leaf.key.signature(over: signed, digest))
        return ReceiptEncoding.value(
            0x30, ReceiptEncoding.integer(1) + name + claimed + attributes + algorithm + signature)
    }

    private func attribute(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        ReceiptEncoding.value(0x30, ReceiptEncoding.value(0x06, name) + ReceiptEncoding.value(0x31, value))
    }
}
