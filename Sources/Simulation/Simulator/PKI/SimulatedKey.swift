import Crypto
import X509

/// A private key of the simulator's.
enum SimulatedKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)

    /// Makes a new key from the system's randomness.
    init(_ curve: CertificateShape.Curve) {
        switch curve {
        case .p256: self = .p256(P256.Signing.PrivateKey())
        case .p384: self = .p384(P384.Signing.PrivateKey())
        }
    }

    var publicKey: Certificate.PublicKey {
        switch self {
        case .p256(let key): .init(key.publicKey)
        case .p384(let key): .init(key.publicKey)
        }
    }

    var privateKey: Certificate.PrivateKey {
        switch self {
        case .p256(let key): .init(key)
        case .p384(let key): .init(key)
        }
    }

    /// The algorithm with which Apple's authorities sign, where the key allows it.
    var signatureAlgorithm: Certificate.SignatureAlgorithm {
        switch self {
        case .p256: .ecdsaWithSHA256
        case .p384: .ecdsaWithSHA384
        }
    }

    /// The key identifier of RFC 5280 section 4.2.1.2: the SHA-1 of the public key.
    var identifier: [UInt8] {
        switch self {
        case .p256(let key): Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        case .p384(let key): Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        }
    }
}
