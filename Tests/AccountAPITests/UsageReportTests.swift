import AppStorePayloads
import Base
import TestSupport
import Testing

@testable import APIKit

@Suite("A report of use")
struct UsageReportTests {
    private static let catalog = """
        app: com.example.storehook
        currency: USD
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: basic, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, price: 4.99}
        features:
          - {id: ai, limits: {free: 3 per day, pro: unlimited}}
          - {id: words, limits: {free: 5 in total, pro: unlimited}}
        """

    @Test(
        "that takes the last there is was allowed, and so is one that is repeated, given back or set; the next is not")
    func last() async throws {
        try await Shop.open(catalog: Self.catalog) { shop in
            func report(_ path: String, _ body: String) async throws -> JSONObject {
                let answer = try await shop.post(path, as: "alice", body)
                #expect(answer.status == 200, "\(answer.body)")
                return try #require(answer.object)
            }
            let calls: [(String, String, Int64)] = [
                ("/v1/usage/ai", #"{"amount":2}"#, 1), ("/v1/usage/ai", #"{"amount":1,"idempotencyKey":"last"}"#, 0),
                ("/v1/usage/ai", #"{"amount":1,"idempotencyKey":"last"}"#, 0), ("/usage/words", #"{"set":5}"#, 0),
                ("/v1/usage/words", #"{"release":1}"#, 1), ("/v1/usage/words", #"{"amount":1}"#, 0),
            ]
            for (path, body, remaining) in calls {
                let counted = try await report(path, body)
                #expect(counted.bool("allowed") == true && counted.string("reason") == nil, "\(path) \(body)")
                #expect(counted.string("requiredTier") == nil && counted.string("upgradePrompt") == nil)
                #expect(counted.integer("remaining") == remaining, "\(path) \(body)")
            }
            // Whether there may be another one is what the feature says.
            #expect(try await shop.get("/v1/features/ai", as: "alice").object?.bool("allowed") == false)
            for (path, body) in [("/v1/usage/ai", "{}"), ("/v1/usage/words", #"{"amount":1}"#)] {
                let refused = try await shop.post(path, as: "alice", body)
                #expect(refused.status == 429 && refused.object?.string("reason") == "limitReached")
            }
        }
    }

    @Test("that is more than what is left says that the limit is the reason, and which tier has more")
    func tooMuch() async throws {
        try await Shop.open(catalog: Self.catalog) { shop in
            let refused = try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":4}"#)
            #expect(refused.status == 429 && refused.object?.integer("remaining") == 3)
            #expect(
                refused.object?.string("reason") == "limitReached" && refused.object?.string("requiredTier") == "pro")
            #expect(refused.object?.string("upgradePrompt") != nil)
        }
    }

    @Test("is refused for a member that nobody knows, which is named; dialects and every other body ignore it")
    func unknownMembers() async throws {
        try await Shop.open(catalog: Self.catalog) { shop in
            for (member, named) in [
                ("amuont", "amuont"), ("Amount", "Amount"), ("idempotency_key", "idempotency_key"),
                ("quantity\u{e9}", "a member of another name"), ("<b>", "a member of another name"),
                ("", "a member of another name"), (String(repeating: "x", count: 65), "a member of another name"),
            ] {
                let refused = try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":1,"\#(member)":2}"#)
                #expect(refused.status == 400 && refused.code == "invalid_request", "\(member)")
                #expect(
                    refused.object?.string("detail")
                        == "\(named) is not taken here: the body has amount, release, set, idempotencyKey, usedAt")
            }
            #expect(try await shop.get("/v1/features/ai", as: "alice").object?.integer("used") == 0)
            for path in ["/usage/ai", "/v1/subscriptions/trial/start", "/v1/subscriptions/restore"] {
                let taken = try await shop.post(path, as: "alice", #"{"amuont":2}"#)
                #expect(taken.code != "invalid_request", "\(path): \(taken.body)")
            }
            #expect(try await shop.get("/v1/features/ai", as: "alice").object?.integer("used") == 1)
            // Null is as if it were missing, for those that are known.
            let null = #"{"amount":null,"release":null,"set":null,"idempotencyKey":null,"usedAt":null}"#
            #expect(try await shop.post("/v1/usage/ai", as: "alice", null).status == 200)
        }
    }

    @Test("may say when it was in any form of RFC 3339")
    func usedAt() async throws {
        try await Shop.open(catalog: Self.catalog) { shop in
            let hourAgo = wallClock().adding(seconds: -3600)
            let east = hourAgo.adding(seconds: 5400).description.replacing("Z", with: "+01:30")
            for text in [hourAgo.description, east, hourAgo.description.replacing("Z", with: "+00:00")] {
                let answer = try await shop.post("/v1/usage/ai", as: "alice", #"{"usedAt":"\#(text)"}"#)
                #expect(answer.status == 200, "\(text): \(answer.body)")
            }
            for text in ["2026-01-02", "yesterday", hourAgo.adding(days: 1).description, "2000-01-01T00:00:00Z"] {
                let answer = try await shop.post("/v1/usage/ai", as: "alice", #"{"usedAt":"\#(text)"}"#)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(text): \(answer.body)")
            }
        }
    }

    @Test("and to verify, one of transaction and receipt is needed: its absence is named")
    func verify() async throws {
        try await Shop.open(catalog: Self.catalog) { shop in
            for body in ["{}", #"{"receiptData":null}"#, #"{"signedRenewalInfo":"a.b.c","productId":"x"}"#] {
                for path in ["/v1/subscriptions/verify", "/subscriptions/verify"] {
                    let refused = try await shop.post(path, as: "alice", body)
                    #expect(refused.status == 400 && refused.code == "invalid_request", "\(path) \(body)")
                    #expect(refused.object?.string("detail") == "signedTransactionInfo or receiptData is missing")
                }
            }
            // A client may know it beforehand.
            let described = try await shop.api.get("/openapi.json").body
            #expect(
                described.contains(
                    #""allOf":[{"if":{"properties":{"signedTransactionInfo":{"type":"null"}}},"then":{"required":["receiptData"],"properties":{"receiptData":{"not":{"type":"null"}}}}}]"#
                ))
            let judged = try await shop.post("/v1/subscriptions/verify", as: "alice", #"{"signedTransactionInfo":"a"}"#)
            #expect(judged.code == "malformed")
        }
    }
}
