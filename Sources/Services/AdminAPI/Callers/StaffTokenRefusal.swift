import APIKit
import HTTPTypes
import Logging

/// Why a staff token is not accepted. Counted, and returned in the answer: it says nothing that helps an attacker guess.
enum StaffTokenRefusal: String, Error, Sendable, CaseIterable {
    /// The request has no token.
    case missing
    /// It is no staff token at all.
    case malformed
    /// No member has it, or it was revoked or has expired.
    case unknown = "staff_token"

    private var code: ProblemCode { self == .missing ? .tokenMissing : .tokenInvalid }

    private var text: ProblemText {
        switch self {
        case .missing:
            ProblemText(
                "send Authorization: Bearer with a staff token", "请在 Authorization: Bearer 中附上员工令牌",
                "請在 Authorization: Bearer 中附上員工權杖")
        case .malformed:
            ProblemText(
                "this is no staff token: storehook staff token EMAIL makes one",
                "这不是员工令牌：请用 storehook staff token EMAIL 生成",
                "這不是員工權杖：請用 storehook staff token EMAIL 產生")
        case .unknown:
            ProblemText(
                "the staff token is not known, was revoked or has expired: storehook staff token EMAIL makes another",
                "员工令牌未知、已被撤销或已过期：请用 storehook staff token EMAIL 新建",
                "員工權杖未知、已被撤銷或已過期：請用 storehook staff token EMAIL 新建")
        }
    }

    /// The problem that it is, with what RFC 6750 wants said.
    var problem: APIProblem {
        let challenge =
            self == .missing
            ? #"Bearer realm="storehook""#
            : #"Bearer realm="storehook", error="invalid_token", error_description="\#(text.english)""#
        return APIProblem(code, text, headers: [.wwwAuthenticate: challenge], log: ["reason": "\(rawValue)"])
    }
}
