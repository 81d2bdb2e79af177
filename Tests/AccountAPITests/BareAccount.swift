import AppStorePayloads
import Base
import HTTPTypes

@testable import APIKit
@testable import AccountAPI

extension APIEndpoint where Access == AccountAccess {
    /// `GET /v1/account` for tests of everything around it: who the caller is, and nothing of a database.
    static func bareAccount() -> AccountEndpoint {
        AccountEndpoint(
            .get, "/v1/account", "getAccount", "Who asks.", for: .account,
            successes: [
                APISuccess(
                    "The account.",
                    .named(
                        "Account",
                        .object([.required("id", .text), .required("appAccountToken", .string(format: "uuid"))])))
            ]
        ) { request in
            let caller = try request.requireCaller()
            return APIAnswer(
                .ok, ["id": .string(caller.name), "appAccountToken": .string(caller.token.description)])
        }
    }
}
