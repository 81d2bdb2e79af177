import APIKit

/// Why a token is not accepted. Counted and returned in the answer: it says nothing that helps an attacker guess.
package enum TokenRefusal: String, Error, Sendable, CaseIterable {
    /// There is none.
    case missing
    /// It is no token at all, or longer than 8 KiB.
    case malformed
    /// It is signed by an algorithm that is not taken, or by none.
    case algorithm
    /// No key of this name is known.
    case unknownKey = "unknown_key"
    /// No key that is known has signed it.
    case signature
    /// It is no longer valid.
    case expired
    /// It is not valid yet.
    case notYet = "not_yet"
    /// It does not say until when it is valid.
    case noExpiry = "no_expiry"
    /// It is by another issuer.
    case issuer
    /// It is for another audience.
    case audience
    /// It does not name an account as one can be.
    case account
    /// It is a server key that is not known, or was revoked.
    case serverKey = "server_key"

    /// The problem that it is.
    var code: ProblemCode {
        switch self {
        case .missing: .tokenMissing
        case .expired: .tokenExpired
        default: .tokenInvalid
        }
    }

    /// Why, in a sentence.
    var detail: String {
        switch self {
        case .missing: "send Authorization: Bearer with a token of the app's"
        case .malformed: "this is no token"
        case .algorithm: "tokens are signed by RS256, ES256 or EdDSA, as the key has it"
        case .unknownKey: "no key of this name is known"
        case .signature: "the signature is not that of a known key"
        case .expired: "the token is no longer valid; get a new one"
        case .notYet: "the token is not valid yet"
        case .noExpiry: "the token does not say until when it is valid (exp)"
        case .issuer: "the token was issued by somebody else (iss)"
        case .audience: "the token is for somebody else (aud)"
        case .account:
            "the token names no account: 1 to 200 printable ASCII characters without spaces, not the nil UUID, and a UUID where "
                + "STOREHOOK_ACCOUNT_IDS is uuid"
        case .serverKey: "the server key is not known, or was revoked"
        }
    }
}
