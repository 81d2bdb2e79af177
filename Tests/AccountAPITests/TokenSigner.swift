import AccountAPI
import AppStorePayloads
import Crypto
import Foundation
import JWTKit
import _CryptoExtras

@testable import APIKit

/// What a token of a test says; what is nil is not said.
struct TestClaims: JWTPayload {
    var sub: String? = "alice"
    var iss: String? = RunningAPI.rules.issuer
    var aud: Audience? = .one(RunningAPI.rules.audience)
    var exp: Double? = Date().timeIntervalSince1970 + 3600
    var nbf: Double?
    var role: String?

    enum Audience: Codable {
        case one(String)
        case some([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .some(try container.decode([String].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .one(let one): try container.encode(one)
            case .some(let some): try container.encode(some)
            }
        }
    }

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// Signs tokens as an app's login does, with a key of each kind. A JWKS file has the public halves.
struct TokenSigner: Sendable {
    /// The JWKS.
    let file: String
    let p256: P256.Signing.PrivateKey
    let ed25519: Curve25519.Signing.PrivateKey
    let rsa: JWTKit.Insecure.RSA.PrivateKey
    private let keys: JWTKeyCollection

    /// Of 2048 bits, made once: that takes a while.
    private static let sharedRSA = Task { try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation }

    init(in directory: URL) async throws {
        p256 = P256.Signing.PrivateKey()
        ed25519 = Curve25519.Signing.PrivateKey()
        rsa = try JWTKit.Insecure.RSA.PrivateKey(pem: try await Self.sharedRSA.value)
        keys = JWTKeyCollection()
        file = directory.appending(path: "jwks.json").path
        await keys.add(ecdsa: try ES256PrivateKey(pem: p256.pemRepresentation), kid: "p256")
        await keys.add(eddsa: try EdDSA.PrivateKey(pem: ed25519.pemRepresentation), kid: "ed25519")
        await keys.add(rsa: rsa, digestAlgorithm: .sha256, kid: "rsa")
        try jwks().write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// A token that is good, unless the claims say otherwise.
    func token(_ claims: TestClaims = TestClaims(), key: JWKIdentifier = "p256") async throws -> String {
        try await keys.sign(claims, kid: key)
    }

    /// A good token of an account.
    func token(of account: String) async throws -> String { try await token(TestClaims(sub: account)) }

    /// The public halves.
    func jwks(only wanted: Set<String> = ["p256", "ed25519", "rsa"]) throws -> String {
        let raw = Array(p256.publicKey.rawRepresentation)
        let (x, y) = (Self.text(raw[..<32]), Self.text(raw[32...]))
        let edwards = Self.text(Array(ed25519.publicKey.rawRepresentation)[...])
        let (modulus, exponent) = try rsaPublic()
        // What is for something else is passed over.
        var keys = [
            #"{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","kid":"secret"}"#,
            #"{"kty":"RSA","use":"enc","kid":"enc","n":"AQAB","e":"AQAB"}"#,
        ]
        if wanted.contains("p256") { keys.append(#"{"kty":"EC","crv":"P-256","kid":"p256","x":"\#(x)","y":"\#(y)"}"#) }
        if wanted.contains("ed25519") {
            keys.append(#"{"kty":"OKP","crv":"Ed25519","kid":"ed25519","x":"\#(edwards)"}"#)
        }
        if wanted.contains("rsa") {
            keys.append(#"{"kty":"RSA","use":"sig","alg":"RS256","kid":"rsa","n":"\#(modulus)","e":"\#(exponent)"}"#)
        }
        return #"{"keys":["# + keys.joined(separator: ",") + "]}"
    }

    private func rsaPublic() throws -> (modulus: String, exponent: String) {
        let primitives = try rsa.publicKey.getKeyPrimitives()
        return (Self.text(Array(primitives.modulus)[...]), Self.text(Array(primitives.publicExponent)[...]))
    }

    /// A token put together by hand.
    static func token(header: String, claims: String, signature: [UInt8]) -> String {
        [text(Array(header.utf8)[...]), text(Array(claims.utf8)[...]), text(signature[...])].joined(separator: ".")
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: Base64.url.encode(Array(bytes)), as: UTF8.self)
    }
}
