import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes
import Logging

extension AccountHandlers {
    /// `PUT /v1/account/profile`
    var profile: AccountEndpoint {
        var endpoint = AccountEndpoint(
            .put, "/v1/account/profile", "putAccountProfile",
            "Replaces the name and the mail address that the people at the desk see. They are deleted when the account is erased.",
            for: .accountOfServer,
            successes: [
                .init(
                    "What stands now. An account that was erased gets neither.",
                    .named(
                        "AccountProfile",
                        .object([.required("name", .nullable(.text)), .required("mail", .nullable(.text))])))
            ]
        ) { try await putProfile($0) }
        endpoint.body = .init(
            .named("AccountProfileRequest", .strict(StrictObject(what: "a profile", members: Self.profileMembers))),
            most: 16 << 10)
        endpoint.problems = [.writeBudget]
        endpoint.isLogged = true
        return endpoint
    }

    private static let profileMembers: [ValueSchema.Property] = [
        .optional(
            "name", .string(.init(1, AccountProfile.maximumNameLength)),
            "What the customer is called; null, or missing, removes it."),
        .optional(
            "mail", .string(.init(1, AccountProfile.maximumMailLength)),
            "The customer's mail address, as the app has it; null, or missing, removes it."),
    ]

    private func putProfile(_ request: AccountRequest) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        guard let body = request.body else { throw APIProblem(.invalidRequest, "a profile is missing") }
        let profile = AccountProfile(name: body.string("name"), mail: body.string("mail"))
        let standing = try await APIProblem.withinBudget { try await accounts.put(profile, for: caller.token) }
        return APIAnswer(
            .ok,
            ["name": standing.name.map { .string($0) } ?? .null, "mail": standing.mail.map { .string($0) } ?? .null],
            log: ["name": standing.name == nil ? "no" : "yes", "mail": standing.mail == nil ? "no" : "yes"])
    }
}
