import AccountAPI
import AccountStore
import AppStorePayloads
import Base
import EventStore
import Foundation
import Postgres
import TestSupport
import Testing

@testable import APIKit

@Suite("Each integer of the account API")
struct IntegerTests {
    /// One integer of a method of a path, as `/openapi.json` describes it.
    private struct Place: Hashable {
        var method: String
        var path: String
        var name: String
        var isQuery: Bool
        /// What has to stand beside it in the body.
        var rest: [String: String] = [:]
    }

    private static let extremes = [
        "0", "-0", "-1", "1", "2", "999", "1000", "1001", "1000000", "1000001", "1000000000", "1000000001",
        "2147483648",
        "4294967296", "9007199254740993", "999999999999999", "1000000000000001", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e0", "1E3",
        "1e18",
        "1e308", "1e400", "-1e400", "1e-400", "0.1", "1.5", String(repeating: "9", count: 400),
    ]

    /// The type of a schema, also of one that may be null.
    private static func type(_ schema: [String: Any]) -> String? {
        let types = schema["type"] as? [String] ?? [schema["type"] as? String].compactMap(\.self)
        return types.first { $0 != "null" }
    }

    private static func places(_ api: RunningAPI) async throws -> [Place] {
        let text = try await api.get("/openapi.json").body
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]] ?? [:]
        return paths.sorted { $0.key < $1.key }.flatMap { path, methods in
            methods.sorted { $0.key < $1.key }.flatMap { method, operation -> [Place] in
                let content = (operation["requestBody"] as? [String: Any])?["content"] as? [String: [String: Any]]
                var schema = content?["application/json"]?["schema"] as? [String: Any] ?? [:]
                if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
                    schema = schemas[String(name)] ?? [:]
                }
                let members = schema["properties"] as? [String: [String: Any]] ?? [:]
                let needed = schema["required"] as? [String] ?? []
                let rest = members.filter { needed.contains($0.key) }.mapValues { Self.type($0) ?? "" }
                let parameters = operation["parameters"] as? [[String: Any]] ?? []
                let asked = parameters.filter { ($0["schema"] as? [String: Any]).flatMap(Self.type) == "integer" }
                return asked.compactMap { $0["name"] as? String }.map {
                    Place(method: method.uppercased(), path: path, name: $0, isQuery: true)
                }
                    + members.filter { Self.type($0.value) == "integer" }.keys.sorted().map {
                        Place(method: method.uppercased(), path: path, name: $0, isQuery: false, rest: rest)
                    }
            }
        }
    }

    @Test("takes its extremes and what lies beyond: an answer or a refusal, never an error of ours")
    func extremes() async throws {
        try await Shop.open(feed: { EventFeed(EventStore($0), connections: 4, watch: $1, logger: quiet) }) { shop in
            #expect(try await shop.verify(shop.buy(lane: 801, for: "alice").transaction, as: "alice").status == 200)
            let key = try await shop.api.serverKey().key.text
            let places = try await Self.places(shop.api)
            #expect(
                Set(places.map(\.name)).isSuperset(of: ["amount", "release", "set", "after", "limit", "wait"]),
                "\(places)")
            var statuses: [Int: Int] = [:]
            for place in places {
                for value in Self.extremes {
                    var path = place.path.replacing("{feature}", with: "words")
                    var body: String?
                    if place.isQuery {
                        path += "?\(place.name)=\(value)" + (place.name == "wait" ? "" : "&wait=0")
                    } else {
                        let rest = place.rest.filter { $0.key != place.name }.map { name, type in
                            #""\#(name)":\#(["boolean": "true", "integer": "1", "array": "[]"][type] ?? #""x""#)"#
                        }
                        body = "{" + ([#""\#(place.name)":\#(value)"#] + rest).joined(separator: ",") + "}"
                    }
                    let answer = try await shop.api.send(
                        place.method, path, token: key, body: body, [("X-Account-ID", "alice")])
                    statuses[answer.status, default: 0] += 1
                    #expect(answer.status < 500, "\(place.method) \(path) \(body ?? ""): \(answer.body)")
                }
            }
            #expect(statuses[200, default: 0] > 5 && statuses[400, default: 0] > 20, "\(statuses)")
        }
    }

    @Test("of a counter ends at its bound: 429, with what is used")
    func counters() async throws {
        try await Shop.open { shop in
            #expect(try await shop.post("/v1/usage/words", as: "alice", #"{"amount":1}"#).status == 200)
            _ = try await shop.accounts.apply(
                shopCatalog.replacing("free: 2 in total", with: "free: unlimited"), by: "test")
            for (stands, amount) in [(Usage.most, 1), (Usage.most - 1, 1_000_000)] as [(Int64, Int)] {
                try await shop.api.observer.query("update storehook.usage_counters set used = \(stands)")
                let answer = try await shop.post("/v1/usage/words", as: "alice", #"{"amount":\#(amount)}"#)
                #expect(answer.status == 429 && answer.code == "limit_reached", "\(answer.body)")
                #expect(answer.object?.integer("used") == stands && answer.body.contains("\(Usage.most)"))
            }
            let full = try await shop.get("/v1/usage/current", as: "alice")
            #expect(full.status == 200 && full.body.contains("\(Usage.most - 1)"))
        }
    }
}
