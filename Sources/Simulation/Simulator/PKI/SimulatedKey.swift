import Crypto
import X509
import _CryptoExtras

/// A private key of the simulator's.
enum SimulatedKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    /// Makes a new key from the system's randomness.
    init(_ curve: CertificateShape.Curve) throws {
        switch curve {
        case .rsa2048: self = .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        case .p256: self = .p256(P256.Signing.PrivateKey())
        case .p384: self = .p384(P384.Signing.PrivateKey())
        }
    }

    var publicKey: Certificate.PublicKey {
        switch self {
        case .p256(let key): .init(key.publicKey)
        case .p384(let key): .init(key.publicKey)
        case .rsa(let key): .init(key.publicKey)
        }
    }

    var privateKey: Certificate.PrivateKey {
        switch self {
        case .p256(let key): .init(key)
        case .p384(let key): .init(key)
        case .rsa(let key): .init(key)
        }
    }

    /// The algorithm with which Apple's authorities sign, where the key allows it.
    func signatureAlgorithm(withSHA1: Bool) -> Certificate.SignatureAlgorithm {
        switch self {
        case .rsa: withSHA1 ? .sha1WithRSAEncryption : .sha256WithRSAEncryption
        case .p256: .ecdsaWithSHA256
        case .p384: .ecdsaWithSHA384
        }
    }

    /// The key identifier of RFC 5280 section 4.2.1.2: the SHA-1 of the public key.
    var identifier: [UInt8] {
        switch self {
        case .p256(let key): Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        case .p384(let key): Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        case .rsa(let key): Array(Insecure.SHA1.hash(data: key.publicKey.pkcs1DERRepresentation))
        }
    }

    /// A signature as PKCS#7 containers have it.
    func signature(over bytes: [UInt8], _ digest: ReceiptSigner.Digest) throws -> [UInt8] {
        switch (self, digest) {
        case (.p256(let key), .sha256): return Array(try key.signature(for: SHA256.hash(data: bytes)).derRepresentation)
        case (.rsa(let key), .sha256):
            return Array(
                try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case (.rsa(let key), .sha1):
            return Array(
                try key.signature(for: Insecure.SHA1.hash(data: bytes), padding: .insecurePKCS1v1_5)
                    .rawRepresentation)
        case (.p256, .sha1), (.p384, _):
            throw SimulatedAuthorityError(message: "No receipt is signed with such a key.")
        }
    }
}
