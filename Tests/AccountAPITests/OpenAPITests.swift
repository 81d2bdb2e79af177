import AccountAPI
import AppStorePayloads
import Base
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import APIKit

@Suite("The description of the account API")
struct OpenAPITests {
    private func document(_ api: RunningAPI) async throws -> [String: Any] {
        let answer = try await api.get("/openapi.json")
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/json")
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
    }

    @Test("names every path that is served, with its callers, and every status that it may answer")
    func paths() async throws {
        let feature = AccountEndpoint(
            .get, "/v1/features/{feature}", "getFeature", "A feature.", for: .account,
            successes: [.init("It.", .object([.required("name", .text)]))]
        ) { request in APIAnswer(.ok, ["name": .text(request.path["feature"])]) }
        try await withAPI(endpoints: [feature]) { api in
            let document = try await document(api)
            #expect(document["openapi"] as? String == "3.1.0")
            let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
            #expect(
                Set(paths.keys) == [
                    "/v1/account", "/v1/consents/consumption", "/webhooks/apple/test", "/v1/features/{feature}",
                    "/healthz",
                    "/health", "/openapi.json",
                ])
            func statuses(_ path: String, _ method: String) -> Set<String> {
                Set((paths[path]?[method]?["responses"] as? [String: Any] ?? [:]).keys)
            }
            #expect(statuses("/v1/account", "get") == ["200", "400", "401", "429", "500", "503"])
            #expect(statuses("/v1/consents/consumption", "put") == ["200", "400", "401", "413", "429", "500", "503"])
            #expect(
                statuses("/webhooks/apple/test", "post")
                    == ["200", "400", "401", "403", "413", "429", "500", "502", "503", "504"])
            #expect(statuses("/healthz", "get") == ["200"])
            let answer = try await api.get("/v1/features/a%2Fb%C3%A9", token: api.signer.token())
            #expect(answer.object?.string("name") == "a/bé")
            // Every reference leads somewhere.
            let text = try await api.get("/openapi.json").body
            let schemas = try #require((document["components"] as? [String: Any])?["schemas"] as? [String: Any])
            for reference in text.matches(of: /"#\/components\/schemas\/([A-Za-z]+)"/) {
                #expect(schemas[String(reference.output.1)] != nil, "\(reference.output.1)")
            }
            #expect(schemas["Problem"] != nil)
            let names = paths.values.flatMap(\.values).compactMap { $0["operationId"] as? String }
            #expect(names.count == Set(names).count && names.count == 7)
        }
    }

    @Test("is the same text each time")
    func same() async throws {
        try await withAPI { api in
            let first = try await api.get("/openapi.json").body
            #expect(try await api.get("/openapi.json").body == first)
        }
    }
}
