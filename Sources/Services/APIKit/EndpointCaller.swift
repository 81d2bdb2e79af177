package import AppStorePayloads
package import Base
import Foundation
import HTTPTypes

/// Calls endpoints from within the program. Who asks in this way gets what the same request over HTTP would get: the same checks, the same
/// handler, the same answer. What is left out is what comes with the network: who calls is known already, and limits of rate are the caller's.
package struct EndpointCaller<Access: APIAccess>: Sendable {
    private let endpoints: [String: APIEndpoint<Access>]

    /// A caller of these endpoints.
    package init(_ endpoints: [APIEndpoint<Access>]) {
        self.endpoints = Dictionary(endpoints.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Whether there is an endpoint of this name, and its query has a value of this name.
    package func takes(_ parameter: String, in endpoint: String) -> Bool {
        endpoints[endpoint]?.query.contains { $0.name == parameter } ?? false
    }

    /// The answer to a call.
    /// - Throws: ``APIProblem``; what the handler throws where something here fails.
    package func answer(_ call: EndpointCall, as caller: Access.Caller) async throws -> APIAnswer {
        let endpoint = try endpoint(of: call)
        guard call.path.values.allSatisfy({ APIEndpoint<Access>.takes(inPath: $0) }) else {
            throw APIProblem(.notFound, "nothing is called so")
        }
        try endpoint.check(query: call.query)
        var request = APIRequest<Access>(
            id: RequestID.current ?? "-", route: "\(endpoint.method) \(endpoint.path)", path: call.path,
            query: call.query, headers: [:])
        request.caller = caller
        if let body = endpoint.body { request.body = try Self.read(call.body ?? .object([]), by: body) }
        return try await endpoint.answer(request)
    }

    /// The members of the answer to a call.
    /// - Throws: as ``answer(_:as:)``.
    package func object(_ call: EndpointCall, as caller: Access.Caller) async throws -> JSONObject {
        let answer = try await answer(call, as: caller)
        guard let bytes = answer.body, let object = try JSONDocument(bytes).object else {
            throw APIProblem(.internalError, "an answer has no members")
        }
        return object
    }

    /// The call as the description has it, for people who want to send it: `GET /admin/orders?status=completed`. Nil where there is no such
    /// endpoint.
    package func text(of call: EndpointCall) -> String? {
        guard let endpoint = endpoints[call.endpoint] else { return nil }
        let parts = endpoint.path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return String(part) }
            return (call.path[String(part.dropFirst().dropLast())] ?? "").percentEncoded(keeping: ":")
        }
        let query = endpoint.query.compactMap { parameter in
            call.query[parameter.name].map { "\(parameter.name)=\($0.percentEncoded(keeping: ":"))" }
        }
        let path = parts.joined(separator: "/")
        return "\(endpoint.method) " + (query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))")
    }

    private func endpoint(of call: EndpointCall) throws(APIProblem) -> APIEndpoint<Access> {
        guard let endpoint = endpoints[call.endpoint] else {
            throw APIProblem(.notFound, "this release does not answer that")
        }
        return endpoint
    }

    /// Reads a body as if a client had sent it: what the schema does not have is refused.
    private static func read(_ body: JSONValue, by taken: APIBody) throws -> JSONObject {
        let bytes = body.bytes
        guard bytes.count <= taken.most else { throw APIProblem(.tooLarge, "more was sent than is read here") }
        guard let object = try? JSONDocument(bytes, maximumValues: APIBody.maximumValues).object else {
            throw APIProblem(.invalidRequest, "what was sent holds what cannot be kept")
        }
        if let fault = taken.schema.fault(in: object) { throw APIProblem(.invalidRequest, fault) }
        return object
    }
}

/// A call of an endpoint.
package struct EndpointCall: Sendable, Hashable {
    /// The endpoint's name.
    package var endpoint: String
    /// The values of the path's parts, by their names.
    package var path: [String: String]
    /// The query's values.
    package var query: [String: String]
    /// What is sent; nil for nothing.
    package var body: JSONValue?

    /// A call.
    package init(
        _ endpoint: String, path: [String: String] = [:], query: [String: String] = [:], body: JSONValue? = nil
    ) {
        self.endpoint = endpoint
        self.path = path
        self.query = query
        self.body = body
    }
}
