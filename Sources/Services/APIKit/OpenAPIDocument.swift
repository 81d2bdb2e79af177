import Base
import HTTPTypes

/// `/openapi.json`: the endpoints as OpenAPI 3.1 has them.
package enum OpenAPIDocument {
    /// The document of these endpoints, as bytes: made once.
    /// - Parameter webhooks: what is posted to others.
    package static func bytes<Access>(
        of endpoints: [APIEndpoint<Access>], webhooks: [APIWebhook] = [], title: String, description: String
    ) -> [UInt8] {
        var paths: [(path: String, operations: [JSONValue.Member])] = []
        for endpoint in endpoints {
            let operation = JSONValue.Member(endpoint.method.rawValue.lowercased(), operation(endpoint))
            if let index = paths.firstIndex(where: { $0.path == endpoint.path }) {
                paths[index].operations.append(operation)
            } else {
                paths.append((endpoint.path, [operation]))
            }
        }
        let document: JSONValue = [
            "openapi": "3.1.0",
            "info": [
                "title": .string(title), "version": .string(Release.version), "description": .string(description),
            ],
            "paths": .object(paths.map { .init($0.path, .object($0.operations)) }),
            "webhooks": .object(webhooks.map { .init($0.name, ["post": $0.operation]) }),
            "components": [
                "securitySchemes": Access.securitySchemes,
                "schemas": .object(
                    schemas(endpoints, webhooks).sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            ],
        ]
        return document.bytes
    }

    private static func schemas<Access>(
        _ endpoints: [APIEndpoint<Access>], _ webhooks: [APIWebhook]
    ) -> [String: JSONValue] {
        var named: [String: ValueSchema] = [:]
        for webhook in webhooks { named.merge(webhook.body.named) { first, _ in first } }
        for endpoint in endpoints {
            var all = endpoint.successes.compactMap(\.schema) + endpoint.query.map(\.schema)
            all += endpoint.pathSchemas.values
            if let body = endpoint.body { all.append(body.schema) }
            if let content = endpoint.style.content { all.append(content.schema) }
            for schema in all { named.merge(schema.named) { first, _ in first } }
        }
        return named.mapValues(\.openAPI)
    }

    private static func operation<Access>(_ endpoint: APIEndpoint<Access>) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("operationId", .string(endpoint.name)), .init("summary", .string(endpoint.summary)),
            .init("security", endpoint.access.security),
        ]
        if let why = endpoint.refusesFitting {
            members.append(.init("description", .string("What fits this description may be answered 400: \(why).")))
            members.append(.init("x-refuses-fitting", true))
        }
        let parameters = parameters(endpoint)
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if let body = endpoint.body {
            members.append(
                .init(
                    "requestBody",
                    [
                        "required": .bool(!body.isOptional),
                        "content": ["application/json": ["schema": body.schema.openAPI]],
                    ]))
        }
        members.append(.init("responses", responses(endpoint)))
        return .object(members)
    }

    private static func parameters<Access>(_ endpoint: APIEndpoint<Access>) -> [JSONValue] {
        var parameters: [JSONValue] = endpoint.path.split(separator: "/").compactMap { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return nil }
            let name = String(part.dropFirst().dropLast())
            return [
                "name": .string(name), "in": "path", "required": true,
                "schema": (endpoint.pathSchemas[name] ?? .string(.init(1, 200))).openAPI,
            ]
        }
        parameters += endpoint.query.map { value in
            [
                "name": .string(value.name), "in": "query", "required": .bool(value.isRequired),
                "description": .string(value.about), "schema": value.schema.openAPI,
            ]
        }
        return parameters
    }

    /// One description for each status, however many codes share it.
    private static func responses<Access>(_ endpoint: APIEndpoint<Access>) -> JSONValue {
        var responses: [(status: Int, value: JSONValue)] = endpoint.successes.map { success in
            var members: [JSONValue.Member] = [.init("description", .string(success.about))]
            let objects = success.schema.map { [JSONValue.Member("application/json", ["schema": $0.openAPI])] } ?? []
            let texts = success.texts.map { JSONValue.Member($0, ["schema": ValueSchema.text.openAPI]) }
            if !(objects + texts).isEmpty { members.append(.init("content", .object(objects + texts))) }
            return (success.status.code, .object(members))
        }
        let problems = Dictionary(grouping: endpoint.allProblems) { endpoint.style.status($0.status).code }
        for (status, codes) in problems.sorted(by: { $0.key < $1.key }) {
            let about = codes.map { "\($0.code): \($0.title)." }.joined(separator: " ")
            var members: [JSONValue.Member] = [.init("description", .string(about))]
            if [429, 503].contains(status) {
                members.append(
                    .init(
                        "headers",
                        [
                            "Retry-After": [
                                "description": "In seconds.", "schema": ValueSchema.integer(0...86_400).openAPI,
                            ]
                        ]))
            }
            if let content = endpoint.style.content {
                members.append(
                    .init("content", .object([.init(content.type, ["schema": content.schema.openAPI])])))
            }
            responses.append((status, .object(members)))
        }
        return .object(responses.sorted { $0.status < $1.status }.map { .init("\($0.status)", $0.value) })
    }
}
