package import APIKit
package import Base
import HTTPTypes
import Logging

/// The callers that an endpoint of the account API accepts.
package enum AccountAccess: APIAccess {
    /// Anyone; no token is looked at.
    case anyone
    /// An account: an app with its token, or one of the operator's servers with a key and the account's name.
    case account
    /// The operator's servers, with a key.
    case server
    /// An account that one of the operator's servers names, with a key.
    case accountOfServer

    package static var securitySchemes: JSONValue {
        [
            "appToken": [
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "A JWT of the app's own, which names the account.",
            ],
            "serverKey": [
                "type": "http", "scheme": "bearer",
                "description": .string(
                    "A key of one of the operator's servers: storehook staff token --account-api."),
            ],
            "account": [
                "type": "apiKey", "in": "header", "name": "X-Account-ID",
                "description": .string(
                    "With a server key: the account that is meant, by its id, 1 to 200 printable ASCII characters without "
                        + "spaces. Passed over with an app's token, which names its account itself."),
            ],
            "accountToken": [
                "type": "apiKey", "in": "header", "name": "X-Account-Token",
                "description": .string(
                    "With a server key: the account that is meant, by its appAccountToken, where its id is not known. "
                        + "Passed over with an app's token."),
            ],
        ]
    }

    package var isOpen: Bool { self == .anyone }

    package var security: JSONValue {
        switch self {
        case .anyone: []
        case .account: [["appToken": []], ["serverKey": [], "account": []], ["serverKey": [], "accountToken": []]]
        case .server: [["serverKey": []]]
        case .accountOfServer: [["serverKey": [], "account": []], ["serverKey": [], "accountToken": []]]
        }
    }

    package var problems: [ProblemCode] {
        switch self {
        case .anyone: []
        case .account: [.accountMissing, .tokenMissing, .tokenExpired, .tokenInvalid, .unavailable]
        case .server: [.tokenMissing, .tokenExpired, .tokenInvalid, .serverKeyRequired, .unavailable]
        case .accountOfServer:
            [.accountMissing, .tokenMissing, .tokenExpired, .tokenInvalid, .serverKeyRequired, .unavailable]
        }
    }

    package func refusal(of caller: CallerCheck.Identity) -> APIProblem? {
        switch (self, caller) {
        case (.server, .app), (.accountOfServer, .app):
            APIProblem(
                .serverKeyRequired,
                ProblemText(
                    "this is for the operator's servers, with a server key", "此接口仅供持有服务器密钥的运营方服务器使用",
                    "此介面僅供持有伺服器金鑰的營運方伺服器使用"))
        case (.account, .server(_, nil)), (.accountOfServer, .server(_, nil)):
            APIProblem(
                .accountMissing,
                ProblemText(
                    "with a server key, name the account: X-Account-ID, or X-Account-Token",
                    "使用服务器密钥时，请用 X-Account-ID 或 X-Account-Token 指明账号", "使用伺服器金鑰時，請用 X-Account-ID 或 X-Account-Token 指明帳號"
                ))
        default: nil
        }
    }
}

/// An endpoint of the account API.
package typealias AccountEndpoint = APIEndpoint<AccountAccess>
/// A request to it.
package typealias AccountRequest = APIRequest<AccountAccess>

extension APIRequest where Access == AccountAccess {
    /// The account a request is for; nil where the endpoint is for anyone, or for servers whatever the account.
    var account: Caller? {
        switch caller {
        case .app(let account): account
        case .server(_, let account): account
        case nil: nil
        }
    }

    /// The number of the server key that was used.
    var serverKey: Int64? {
        if case .server(let key, _) = caller { key } else { nil }
    }

    /// The account.
    /// - Throws: ``APIProblem`` where there is none: then the endpoint says that it is for anyone, and its handler is wrong.
    func requireCaller() throws(APIProblem) -> Caller {
        guard let account else {
            throw APIProblem(.tokenMissing, ProblemText("this path needs a token", "此接口需要令牌", "此介面需要權杖"))
        }
        return account
    }
}
