package import APIKit
import Events

extension APIEndpoint where Access == AccountAccess {
    /// What every account API has, whatever else it serves: `/healthz`, `/health`, and `/openapi.json` of all of it.
    /// - Parameter webhooks: what is posted to others.
    package static func withStanding(
        _ endpoints: [AccountEndpoint], webhooks: [APIWebhook] = EventKind.webhooks
    ) -> [AccountEndpoint] {
        all(
            endpoints, open: .anyone, health: [("/healthz", "getHealthz"), ("/health", "getHealth")],
            description: "/openapi.json", isPublic: true, webhooks: webhooks, title: "storehook account API",
            about: about)
    }

    private static let about =
        "Who has paid for what, for apps and their backends. Times are RFC 3339 in UTC, money is whole "
        + "milliunits with a currency. Members that are not described may come with a later release. What is "
        + "sent holds no U+0000, which PostgreSQL cannot keep: 400."
}
