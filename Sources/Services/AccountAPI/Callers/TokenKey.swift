import AppStorePayloads
import Crypto
import Foundation
import JWTKit

/// A key that app tokens are checked with, for the one algorithm that is this kind of key's: what a token says of its algorithm
/// chooses no key's use.
struct TokenKey: Sendable {
    /// How tokens may be signed. Nothing else is taken.
    enum Algorithm: String, Sendable, CaseIterable {
        /// RSA of 2048 bits or more, with SHA-256.
        case rs256 = "RS256"
        /// P-256, with SHA-256.
        case es256 = "ES256"
        /// Ed25519.
        case eddsa = "EdDSA"
        /// A secret that both sides share, with SHA-256.
        case hs256 = "HS256"
    }

    /// What tokens call it; nil where it has no name, and then it is tried for tokens of any.
    let identifier: String?
    /// Its algorithm.
    let algorithm: Algorithm
    private let checker: any JWTAlgorithm

    private init(_ identifier: String?, _ algorithm: Algorithm, _ collection: JWTKeyCollection) async throws {
        self.identifier = identifier
        self.algorithm = algorithm
        // Not by `JWTKeyCollection.verify`: for a name that it does not know it takes its first key, and it compares no token's
        // algorithm with the key's.
        checker = try await collection.getKey()
    }

    /// Whether this key has signed these bytes.
    func hasSigned(_ bytes: [UInt8], _ signature: [UInt8]) -> Bool {
        (try? checker.verify(signature, signs: bytes)) ?? false
    }

    /// A key of a JWK set (RFC 7517), as jwt-kit reads it; nil where it is none for signatures that are taken here. Of a private key its
    /// public part.
    init?(jwk object: JSONObject) async {
        guard object.string("use").map({ $0 == "sig" }) ?? true,
            object.strings("key_ops")?.contains("verify") ?? true,
            var jwk = try? JSONDecoder().decode(JWK.self, from: Data(object.text))
        else { return nil }
        let algorithm: Algorithm
        switch (jwk.keyType, jwk.curve?.rawValue) {
        // Beyond 8192 bits a signature costs more than a request may.
        case (.rsa, _) where (jwk.modulus ?? "").utf8.count <= 1366: algorithm = .rs256
        case (.ecdsa, "P-256"): algorithm = .es256
        case (.octetKeyPair, "Ed25519"): algorithm = .eddsa
        default: return nil
        }
        let identifier = jwk.keyIdentifier?.string
        // No token's name is longer, and the name would be kept.
        guard jwk.algorithm.map({ $0.rawValue == algorithm.rawValue }) ?? true, (identifier ?? "").utf8.count <= 1000
        else { return nil }
        jwk.algorithm = JWK.Algorithm(rawValue: algorithm.rawValue)
        jwk.keyIdentifier = "key"
        (jwk.privateExponent, jwk.prime1, jwk.prime2) = (nil, nil, nil)
        guard let collection = try? await JWTKeyCollection().add(jwk: jwk) else { return nil }
        do { self = try await TokenKey(identifier, algorithm, collection) } catch { return nil }
    }

    /// The key of one PEM block, of a public key or of a certificate; nil where it is neither, or of another kind.
    init?(pem: String) async {
        let isCertificate = pem.contains("BEGIN CERTIFICATE")
        let keys = JWTKeyCollection()
        let algorithm: Algorithm
        if let key = try? isCertificate ? ES256PublicKey(certificate: pem) : ES256PublicKey(pem: pem) {
            algorithm = .es256
            await keys.add(ecdsa: key)
        } else if let key = try? isCertificate
            ? Insecure.RSA.PublicKey(certificatePEM: pem) : Insecure.RSA.PublicKey(pem: pem)
        {
            algorithm = .rs256
            await keys.add(rsa: key, digestAlgorithm: .sha256)
        } else if !isCertificate, let key = try? EdDSA.PublicKey(pem: pem) {
            algorithm = .eddsa
            await keys.add(eddsa: key)
        } else {
            return nil
        }
        do { self = try await TokenKey(nil, algorithm, keys) } catch { return nil }
    }

    /// A secret that both sides share.
    init?(secret: [UInt8]) async {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        do { self = try await TokenKey(nil, .hs256, keys) } catch { return nil }
    }
}
