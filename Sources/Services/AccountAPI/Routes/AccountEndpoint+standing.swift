package import APIKit
import Base
import Events
import HTTPTypes

extension APIEndpoint where Access == AccountAccess {
    /// What every account API has, whatever else it serves: `/healthz`, `/health`, and `/openapi.json` of all of it.
    /// - Parameter webhooks: what is posted to others.
    package static func withStanding(
        _ endpoints: [AccountEndpoint], webhooks: [APIWebhook] = EventKind.webhooks
    ) -> [AccountEndpoint] {
        var all = endpoints + [health("/healthz", "getHealthz"), health("/health", "getHealth")]
        var description = AccountEndpoint(
            .get, "/openapi.json", "getDescription", "This description.", for: .anyone,
            successes: [APISuccess("The description, as OpenAPI 3.1 has it.", .named("OpenAPIDocument", .object([])))]
        ) { _ in APIAnswer(.ok, nil) }
        description.limits = .none
        all.append(description)
        let bytes = OpenAPIDocument.bytes(
            of: all, webhooks: webhooks, title: "storehook account API", description: Self.about)
        all[all.count - 1].answer = { _ in
            APIAnswer(
                bytes: bytes, contentType: "application/json",
                // Web tools read it; it is the same for every caller.
                headers: [.cacheControl: "public, max-age=300", .accessControlAllowOrigin: "*"])
        }
        return all
    }

    private static let about =
        "Who has paid for what, for apps and their backends. Times are RFC 3339 in UTC, money is whole "
        + "milliunits with a currency. Members that are not described may come with a later release. What is "
        + "sent holds no U+0000, which PostgreSQL cannot keep: 400."

    private static func health(_ path: String, _ name: String) -> AccountEndpoint {
        var endpoint = AccountEndpoint(
            .get, path, name, "Whether the program lives. Asks nothing and nobody.", for: .anyone,
            successes: [APISuccess("It does.", nil)]
        ) { _ in APIAnswer(.ok, nil) }
        endpoint.limits = .none
        return endpoint
    }
}
