import AppStorePayloads
import Base
import JWTKit

/// Whether a token is one that Apple would accept: signature, issuer, audience, app and lifetime.
struct TokenCheck: Sendable {
    /// Apple's claims. Its own libraries leave `iat` out, and are let in.
    private struct Claims: JWTPayload {
        var iss: String
        var iat: Int64?
        var exp: Int64
        var aud: String
        var bid: String

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let keys: JWTKeyCollection
    private let keyId: String
    private let issuerId: String
    private let bundleId: String

    init(publicKeyPEM: String, keyId: String, issuerId: String, bundleId: String) async throws {
        keys = await JWTKeyCollection().add(
            ecdsa: try ES256PublicKey(pem: publicKeyPEM), kid: JWKIdentifier(string: keyId))
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    /// Whether it lets in now, in whole seconds since 1970.
    func accepts(_ authorization: String?, at now: Int64) async -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        let token = String(authorization.dropFirst(7))
        guard let segment = token.split(separator: ".").first, let text = Base64.url.decode(Array(segment.utf8)),
            let header = try? JSONDocument(text).object, header.string("alg") == "ES256",
            header.string("kid") == keyId, let claims = try? await keys.verify(token, as: Claims.self)
        else { return false }
        // An hour, and a minute for clocks that differ.
        let start = claims.iat ?? now
        return claims.iss == issuerId && claims.aud == "appstoreconnect-v1" && claims.bid == bundleId
            && claims.exp > now && claims.exp - start <= 3600 && claims.exp - now <= 3660 && start <= now + 60
    }
}
