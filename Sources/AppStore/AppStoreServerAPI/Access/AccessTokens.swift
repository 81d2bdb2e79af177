import AppStorePayloads
import Base
import JWTKit

/// Makes an app's tokens, and keeps the present one until a minute before its end.
actor AccessTokens {
    /// For how long a token is made. Apple accepts none that lasts longer than an hour.
    static let lifetime: Int64 = 20 * 60

    /// Apple's claims (Generating JSON Web Tokens for API requests).
    private struct Claims: JWTPayload {
        var iss: String
        var iat: Int64
        var exp: Int64
        var aud: String
        var bid: String

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let credentials: Credentials
    private var signer: JWTKeyCollection?
    private var token: AccessToken?

    init(_ credentials: Credentials) { self.credentials = credentials }

    /// A token that can be used now.
    func token(at now: Timestamp) async throws -> AccessToken {
        if let token, token.isUsable(at: now) { return token }
        let identifier = JWKIdentifier(string: credentials.keyId)
        let signer =
            if let signer { signer } else { await JWTKeyCollection().add(ecdsa: credentials.key.key, kid: identifier) }
        self.signer = signer
        // In whole seconds, and begun half a minute ago: a clock of Apple's that is behind ours must not think it made ahead of time.
        let start = now.millisecondsSince1970 / 1000 - 30
        let end = start + Self.lifetime
        let claims = Claims(
            iss: credentials.issuerId, iat: start, exp: end, aud: "appstoreconnect-v1", bid: credentials.bundleId)
        let made = AccessToken(
            try await signer.sign(claims, kid: identifier), expires: Timestamp(secondsSince1970: end))
        token = made
        return made
    }

    /// Apple has refused this token: the next one is made anew.
    func discard(_ refused: AccessToken) {
        if token == refused { token = nil }
    }
}
