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

    /// Why, in a sentence: the one in English stands in `WWW-Authenticate` too.
    var text: ProblemText {
        switch self {
        case .missing:
            ProblemText(
                "send Authorization: Bearer with a token of the app's", "用户未认证：请在 Authorization: Bearer 中附上应用的令牌",
                "使用者未驗證：請在 Authorization: Bearer 中附上 App 的權杖")
        case .malformed: ProblemText("this is no token", "这不是令牌", "這不是權杖")
        case .algorithm:
            ProblemText(
                "tokens are signed by RS256, ES256 or EdDSA, as the key has it", "令牌须按密钥所定以 RS256、ES256 或 EdDSA 签名",
                "權杖須按金鑰所定以 RS256、ES256 或 EdDSA 簽署")
        case .unknownKey: ProblemText("no key of this name is known", "没有此名称的密钥", "沒有此名稱的金鑰")
        case .signature:
            ProblemText("the signature is not that of a known key", "令牌的签名不属于任何已知密钥", "權杖的簽章不屬於任何已知金鑰")
        case .expired:
            ProblemText("the token is no longer valid; get a new one", "令牌已过期，请重新获取", "權杖已過期，請重新取得")
        case .notYet: ProblemText("the token is not valid yet", "令牌尚未生效", "權杖尚未生效")
        case .noExpiry:
            ProblemText(
                "the token does not say until when it is valid (exp)", "令牌没有注明有效期（exp）", "權杖沒有註明有效期限（exp）")
        case .issuer:
            ProblemText("the token was issued by somebody else (iss)", "令牌由其他签发者签发（iss）", "權杖由其他簽發者簽發（iss）")
        case .audience:
            ProblemText("the token is for somebody else (aud)", "令牌的受众不是此服务（aud）", "權杖的受眾不是此服務（aud）")
        case .account:
            ProblemText(
                "the token names no account: 1 to 200 printable ASCII characters without spaces, not the nil UUID, and a UUID where "
                    + "STOREHOOK_ACCOUNT_IDS is uuid",
                "令牌没有指明账号：1 到 200 个可打印的 ASCII 字符，不含空格，不能是全零的 UUID",
                "權杖沒有指明帳號：1 到 200 個可列印的 ASCII 字元，不含空格，不能是全零的 UUID")
        case .serverKey:
            ProblemText(
                "the server key is not known, or was revoked; a new one counts within seven seconds",
                "服务器密钥未知或已被撤销；新密钥会在七秒内生效",
                "伺服器金鑰未知或已被撤銷；新金鑰會在七秒內生效")
        }
    }

    /// Why, in English.
    var detail: String { text.english }
}
