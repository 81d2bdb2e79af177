import AppStorePayloads
import Base

/// What the claims of an app token must be.
///
/// jwt-kit's claims are not used: its `AudienceClaim` ends the program where the list is empty, and its `ExpirationClaim` takes any
/// number, also one that means never.
package struct TokenRules: Sendable, Hashable {
    /// The issuer: `iss`.
    package var issuer: String
    /// The audience: one of `aud`.
    package var audience: String
    /// The claim that names the account.
    package var accountClaim: String
    /// The claim that names a role.
    package var roleClaim: String

    /// Rules.
    package init(issuer: String, audience: String, accountClaim: String = "sub", roleClaim: String = "role") {
        self.issuer = issuer
        self.audience = audience
        self.accountClaim = accountClaim
        self.roleClaim = roleClaim
    }

    /// By how much the clocks of the tokens' issuer and of this machine may differ, in seconds.
    package static let leeway: Int64 = 60

    /// Checks the claims of a token with a good signature.
    func claims(_ bytes: [UInt8], at now: Timestamp) throws(TokenRefusal) -> VerifiedToken {
        guard let claims = try? JSONDocument(bytes).object else { throw .malformed }
        guard claims.string("iss") == issuer else { throw .issuer }
        guard (claims.string("aud").map { [$0] } ?? claims.strings("aud") ?? []).contains(audience) else {
            throw .audience
        }
        let texts = claims.members(except: [])
        guard let end = Self.instant(texts["exp"]) else { throw .noExpiry }
        let expires = end.adding(seconds: Self.leeway)
        guard now < expires else { throw .expired }
        if let text = texts["nbf"] {
            guard let start = Self.instant(text) else { throw .malformed }
            guard start <= now.adding(seconds: Self.leeway) else { throw .notYet }
        }
        guard let id = Self.text(texts[accountClaim]), Caller.isID(id) else { throw .account }
        let role = Self.text(texts[roleClaim]).flatMap { $0.utf8.count <= 200 ? $0 : nil }
        return VerifiedToken(id: id, role: role, expires: expires)
    }

    /// Seconds since 1970; a fraction (RFC 7519, section 2) is cut off. Nil for what is no number, and for what lies
    /// beyond the year 9999, which no issuer means.
    private static func instant(_ json: [UInt8]?) -> Timestamp? {
        guard let number = json.flatMap({ Double(String(decoding: $0, as: UTF8.self)) }),
            (0...253_402_300_799).contains(number)
        else { return nil }
        return Timestamp(secondsSince1970: Int64(number))
    }

    /// A member's text, where its JSON is one.
    private static func text(_ json: [UInt8]?) -> String? {
        json.flatMap { try? JSONDocument(Array(#"{"v":"#.utf8) + $0 + [UInt8(ascii: "}")]).object?.string("v") }
    }
}

/// What a token says that is good.
struct VerifiedToken: Sendable {
    /// The id of the account that it names.
    var id: String
    /// What it says of the account's role.
    var role: String?
    /// The account, by the rule of ids as it was.
    var caller: Caller?
    /// Until when it is good, the leeway included.
    var expires: Timestamp
}
