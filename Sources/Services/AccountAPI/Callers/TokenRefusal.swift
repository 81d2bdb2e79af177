import APIKit

/// Why a token is not accepted. Counted and returned in the answer: it says nothing that helps an attacker guess.
package enum TokenRefusal: String, Error, Sendable, CaseIterable {
    /// There is none.
    case missing
    /// It may be good, and does not stand behind `Bearer`.
    case scheme
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
        case .scheme:
            ProblemText(
                "the token stands by itself: write Bearer before it, as Authorization: Bearer TOKEN",
                "令牌前缺少 Bearer：请写成 Authorization: Bearer 加令牌", "權杖前缺少 Bearer：請寫成 Authorization: Bearer 加權杖")
        case .malformed:
            ProblemText(
                "this is no token: send a JWT of the app's of 8 KiB at most, or a server key of storehook staff token --account-api",
                "这不是令牌：请发送应用的 JWT（最长 8 KiB），或 storehook staff token --account-api 生成的服务器密钥",
                "這不是權杖：請傳送 App 的 JWT（最長 8 KiB），或 storehook staff token --account-api 產生的伺服器金鑰")
        case .algorithm:
            ProblemText(
                "sign tokens by RS256, ES256 or EdDSA, as the key has it; HS256 takes STOREHOOK_JWT_SECRET_FILE",
                "令牌须按密钥所定以 RS256、ES256 或 EdDSA 签名；HS256 须设置 STOREHOOK_JWT_SECRET_FILE",
                "權杖須按金鑰所定以 RS256、ES256 或 EdDSA 簽署；HS256 須設定 STOREHOOK_JWT_SECRET_FILE")
        case .unknownKey:
            ProblemText(
                "no key has the token's kid: publish the signer's public key where STOREHOOK_JWT_KEYS points",
                "没有密钥与令牌的 kid 相符：请把签名者的公钥放到 STOREHOOK_JWT_KEYS 所指之处",
                "沒有金鑰與權杖的 kid 相符：請把簽署者的公鑰放到 STOREHOOK_JWT_KEYS 所指之處")
        case .signature:
            ProblemText(
                "no known key has signed the token: publish the signer's public key where STOREHOOK_JWT_KEYS points",
                "令牌的签名不属于任何已知密钥：请把签名者的公钥放到 STOREHOOK_JWT_KEYS 所指之处",
                "權杖的簽章不屬於任何已知金鑰：請把簽署者的公鑰放到 STOREHOOK_JWT_KEYS 所指之處")
        case .expired:
            ProblemText("the token is no longer valid; get a new one", "令牌已过期，请重新获取", "權杖已過期，請重新取得")
        case .notYet:
            ProblemText(
                "the token is not valid yet (nbf, iat): send it later, or set the signer's clock",
                "令牌尚未生效（nbf、iat）：请稍后发送，或校准签发者的时钟", "權杖尚未生效（nbf、iat）：請稍後傳送，或校準簽發者的時鐘")
        case .noExpiry:
            ProblemText(
                "the token does not state until when it is valid: add exp", "令牌没有注明有效期：请加上 exp",
                "權杖沒有註明有效期限：請加上 exp")
        case .issuer:
            ProblemText(
                "the token's iss is not STOREHOOK_JWT_ISSUER: change one of the two",
                "令牌的 iss 不是 STOREHOOK_JWT_ISSUER：请改其中之一", "權杖的 iss 不是 STOREHOOK_JWT_ISSUER：請改其中之一")
        case .audience:
            ProblemText(
                "the token's aud does not name STOREHOOK_JWT_AUDIENCE: change one of the two",
                "令牌的 aud 不含 STOREHOOK_JWT_AUDIENCE：请改其中之一", "權杖的 aud 不含 STOREHOOK_JWT_AUDIENCE：請改其中之一")
        case .account:
            ProblemText(
                "the token names no account: 1 to 200 printable ASCII characters without spaces, not the nil UUID, and a UUID where "
                    + "STOREHOOK_ACCOUNT_IDS is uuid",
                "令牌没有指明账号：1 到 200 个可打印的 ASCII 字符，不含空格，不能是全零的 UUID；STOREHOOK_ACCOUNT_IDS 为 uuid 时须是 UUID",
                "權杖沒有指明帳號：1 到 200 個可列印的 ASCII 字元，不含空格，不能是全零的 UUID；STOREHOOK_ACCOUNT_IDS 為 uuid 時須是 UUID")
        case .serverKey:
            ProblemText(
                "the server key is not known, or was revoked: make one by storehook staff token --account-api; it counts within seven "
                    + "seconds",
                "服务器密钥未知或已被撤销：请用 storehook staff token --account-api 新建；新密钥会在七秒内生效",
                "伺服器金鑰未知或已被撤銷：請用 storehook staff token --account-api 新建；新金鑰會在七秒內生效")
        }
    }

    /// Why, in English.
    var detail: String { text.english }
}
