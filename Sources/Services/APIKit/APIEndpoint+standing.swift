import Base
import HTTPTypes

extension APIEndpoint {
    /// The endpoints, behind them those for health, and the description of all of them.
    /// - Parameters:
    ///   - open: the access of what anyone may ask.
    ///   - health: the paths of the former, with their names.
    ///   - description: the latter's path.
    ///   - isPublic: whether web tools of other origins may read the description.
    ///   - webhooks: what is posted to others.
    package static func all(
        _ endpoints: [APIEndpoint], open: Access, health: [(path: String, name: String)], description path: String,
        isPublic: Bool, webhooks: [APIWebhook] = [], title: String, about: String
    ) -> [APIEndpoint] {
        var all = endpoints
        for (path, name) in health {
            var endpoint = APIEndpoint(
                .get, path, name, "Whether the program lives. Asks nothing.", for: open,
                successes: [APISuccess("It does.", nil)]
            ) { _ in APIAnswer(.ok, nil) }
            endpoint.limits = .none
            all.append(endpoint)
        }
        var description = APIEndpoint(
            .get, path, "getDescription", "This description.", for: open,
            successes: [APISuccess("The description, as OpenAPI 3.1 has it.", .named("OpenAPIDocument", .object([])))]
        ) { _ in APIAnswer(.ok, nil) }
        description.limits = .none
        all.append(description)
        let bytes = OpenAPIDocument.bytes(of: all, webhooks: webhooks, title: title, description: about)
        // It is the same for every caller.
        var headers: HTTPFields = [.cacheControl: "public, max-age=300"]
        if isPublic { headers[.accessControlAllowOrigin] = "*" }
        let sent = headers
        all[all.count - 1].answer = { _ in APIAnswer(bytes: bytes, contentType: "application/json", headers: sent) }
        return all
    }
}
