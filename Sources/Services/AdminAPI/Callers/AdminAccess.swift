package import APIKit
package import AccountStore
package import Base

/// The callers that an endpoint of the admin API accepts. How much a member of the staff may do depends on what is asked for: handlers ask
/// `StaffRules`.
package enum AdminAccess: APIAccess {
    /// Anyone; no token is looked at.
    case anyone
    /// Members of the staff, with a token.
    case staff

    package static var securitySchemes: JSONValue {
        [
            "staffToken": [
                "type": "http", "scheme": "bearer",
                "description": "A token of a member of the staff: storehook staff token EMAIL.",
            ]
        ]
    }

    package var isOpen: Bool { self == .anyone }

    package var security: JSONValue { self == .anyone ? [] : [["staffToken": []]] }

    package var problems: [ProblemCode] {
        self == .anyone ? [] : [.tokenMissing, .tokenInvalid, .forbidden, .unavailable]
    }

    package func refusal(of caller: StaffMember) -> APIProblem? { nil }
}

/// An endpoint of the admin API.
package typealias AdminEndpoint = APIEndpoint<AdminAccess>
/// A request to it.
package typealias AdminRequest = APIRequest<AdminAccess>
