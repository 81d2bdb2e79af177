import HTTPTypes

extension APIEndpoint {
    /// What every account API has, whatever else it serves: `/healthz`, `/health`, and `/openapi.json` of all of it.
    package static func withStanding(_ endpoints: [APIEndpoint]) -> [APIEndpoint] {
        var all = endpoints + [health("/healthz", "getHealthz"), health("/health", "getHealth")]
        var description = APIEndpoint(
            .get, "/openapi.json", "getDescription", "This description.", for: .anyone,
            successes: [Success("The description, as OpenAPI 3.1 has it.", .object([]))]
        ) { _ in APIAnswer(.ok, nil) }
        description.limits = .none
        all.append(description)
        let bytes = OpenAPIDocument.bytes(of: all)
        all[all.count - 1].answer = { _ in
            APIAnswer(
                bytes: bytes, contentType: "application/json",
                // Web tools read it; it is the same for everybody.
                headers: [.cacheControl: "public, max-age=300", .accessControlAllowOrigin: "*"])
        }
        return all
    }

    private static func health(_ path: String, _ name: String) -> APIEndpoint {
        var endpoint = APIEndpoint(
            .get, path, name, "Whether the program lives. Asks nothing and nobody.", for: .anyone,
            successes: [Success("It does.", nil)]
        ) { _ in APIAnswer(.ok, nil) }
        endpoint.limits = .none
        return endpoint
    }
}
