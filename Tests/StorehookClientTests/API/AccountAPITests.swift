import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The typed account API")
struct AccountAPITests {
    private static let account = """
        {"id":"alice","appAccountToken":"8c1aa1a3-5796-5a41-af00-ab65ff930c25","environment":"Production","tier":"pro",
         "tierName":"Pro","status":"active","displayStatus":"Active","source":"apple","hasAccess":true,
         "expiresAt":"2026-12-01T10:00:00Z","provenUntil":"2026-11-20T10:00:00.250Z","version":7}
        """

    /// Gives a token of its own to each call.
    private actor Tokens {
        private(set) var given = 0
        func next() -> String {
            given += 1
            return "token-\(given)"
        }
    }

    private func api(_ transport: ScriptedTransport, _ tokens: Tokens = Tokens()) throws -> AccountAPI {
        AccountAPI(
            baseURL: try #require(URL(string: "https://api.example.com/shop")), languages: ["zh-Hant", "en"],
            transport: transport
        ) { await tokens.next() }
    }

    private func problem(_ status: Int, _ code: String) -> ScriptedTransport.Answer {
        .init(status: status, body: #"{"code":"\#(code)","title":"t","detail":"d","status":\#(status)}"#)
    }

    @Test("asks with the app's token and languages below its address, and reads instants with and without fractions")
    func request() async throws {
        let transport = ScriptedTransport([.init(body: Self.account)])
        let account = try await api(transport).account()
        let request = try #require(transport.requests.first)
        #expect(request.url?.absoluteString == "https://api.example.com/shop/v1/account")
        #expect(request.httpMethod == "GET" && request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer token-1")
        #expect(request.value(forHTTPHeaderField: "Accept-Language") == "zh-Hant, en")
        #expect(account.id == "alice" && account.status == .active && account.version == 7)
        #expect(account.expiresAt == Date(timeIntervalSince1970: 1_796_119_200))
        #expect(account.provenUntil == Date(timeIntervalSince1970: 1_795_168_800.25))
    }

    @Test("asks for a token once more after token_expired, and after no other refusal")
    func tokens() async throws {
        let tokens = Tokens()
        let renewed = ScriptedTransport([problem(401, "token_expired"), .init(body: Self.account)])
        _ = try await api(renewed, tokens).account()
        #expect(
            renewed.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == [
                "Bearer token-1", "Bearer token-2",
            ])
        for (answers, asked) in [
            ([problem(401, "token_expired"), problem(401, "token_expired")], 2), ([problem(401, "token_invalid")], 1),
            ([problem(403, "forbidden")], 1),
        ] {
            let transport = ScriptedTransport(answers + [.init(body: Self.account)])
            let api = try api(transport)
            await #expect(throws: Problem.self) { try await api.account() }
            #expect(transport.requests.count == asked)
        }
    }

    @Test("takes words and members of a later release")
    func later() async throws {
        let body = Self.account.replacing("\"active\"", with: "\"paused\"")
            .replacing("\"version\":7", with: "\"version\":7,\"mood\":{\"a\":[1]}")
        let account = try await api(ScriptedTransport([.init(body: body)])).account()
        #expect(account.status == .unknown("paused") && account.hasAccess)
        #expect(AccountStatus(rawValue: "paused").rawValue == "paused")
        #expect(
            try JSONDecoder().decode([UsagePeriod].self, from: Data(#"["day","week"]"#.utf8)) == [
                .day, .unknown("week"),
            ])
    }

    @Test(
        "states what cannot be read, what is too long, and that no answer came",
        arguments: [
            ("{", ClientError.unreadableAnswer), ("[]", .unreadableAnswer), (#"{"id":"alice"}"#, .unreadableAnswer),
            ("<html>", .unreadableAnswer),
            (account + String(repeating: " ", count: AccountAPI.mostBytes), .unreadableAnswer), (nil, .network),
        ] as [(String?, ClientError)])
    func unreadable(body: String?, error: ClientError) async throws {
        let api = try api(ScriptedTransport(body.map { [.init(body: $0)] } ?? []))
        await #expect(throws: error) { try await api.account() }
    }

    @Test("reads problems, and what a proxy answers in their place")
    func problems() async throws {
        let limited = ScriptedTransport.Answer(
            status: 429, body: #"{"code":"limit_reached","title":"t","detail":"d","upgradePrompt":"Get Pro"}"#,
            headers: ["Retry-After": "30"])
        let api = try api(ScriptedTransport([limited, .init(status: 502, body: "<html>")]))
        await #expect {
            try await api.report(2, of: "ai", idempotencyKey: "k")
        } throws: { error in
            let problem = error as? Problem
            return problem?.upgradePrompt == "Get Pro" && problem?.retryAfter == 30 && problem?.isTransient == false
                && ClientError(describing: error) == .upgradeNeeded(prompt: "Get Pro")
        }
        await #expect {
            try await api.status()
        } throws: { ($0 as? Problem)?.code == "http_502" && ClientError(describing: $0) == .network }
    }

    @Test(
        "sorts problems by what a customer can do",
        arguments: [
            (401, "token_invalid", ClientError.signIn), (403, "other_account", .otherAccount),
            (409, "bound_elsewhere", .otherAccount), (409, "idempotency_key_reused", .unknown),
            (403, "environment_forbidden", .unknown), (409, "trial_not_eligible", .trialRefused),
            (403, "tier_required", .upgradeNeeded(prompt: nil)),
            (403, "feature_not_included", .upgradeNeeded(prompt: nil)),
            (400, "unknown_product", .product), (400, "invalid_signature", .verificationFailed),
            (400, "invalid_request", .unknown), (429, "rate_limited", .busy(retryAfter: nil)),
            (503, "unavailable", .network), (500, "internal", .network), (404, "unknown_feature", .unknown),
        ])
    func kinds(status: Int, code: String, kind: ClientError) {
        let body = Data(#"{"code":"\#(code)","title":"t","detail":"d"}"#.utf8)
        #expect(ClientError(describing: Problem(status: status, body, retryAfter: nil)) == kind)
    }

    @Test("sends the bodies that the server reads, and no member that is not set")
    func bodies() async throws {
        let transport = ScriptedTransport([])
        let api = try api(transport)
        _ = try? await api.verify("a.b.c", signedRenewalInfo: "d.e.f")
        _ = try? await api.restore(["a.b.c"])
        _ = try? await api.restore()
        _ = try? await api.report(3, of: "ai", idempotencyKey: "k", usedAt: Date(timeIntervalSince1970: 0.5))
        _ = try? await api.report(PurchaseAttempt(.purchase, .failed, productID: "p", reason: "declined"))
        _ = try? await api.setConsumptionConsent(true, text: "yes")
        _ = try? await api.startTrial()
        let sent = transport.requests.map { request in
            [request.httpMethod, request.url?.path, request.httpBody.map { String(decoding: $0, as: UTF8.self) }]
                .compactMap(\.self)
        }
        let expected: [(String, String, [String: Any])] = [
            (
                "POST", "/shop/v1/subscriptions/verify",
                ["signedTransactionInfo": "a.b.c", "signedRenewalInfo": "d.e.f"]
            ),
            ("POST", "/shop/v1/subscriptions/restore", ["signedTransactions": ["a.b.c"]]),
            ("POST", "/shop/v1/subscriptions/restore", [:]),
            (
                "POST", "/shop/v1/usage/ai",
                ["amount": 3, "idempotencyKey": "k", "usedAt": "1970-01-01T00:00:00.500Z"]
            ),
            (
                "POST", "/shop/v1/purchases",
                ["kind": "purchase", "outcome": "failed", "productId": "p", "reason": "declined"]
            ),
            ("PUT", "/shop/v1/consents/consumption", ["granted": true, "text": "yes"]),
            ("POST", "/shop/v1/subscriptions/trial/start", [:]),
        ]
        #expect(sent.count == expected.count)
        #expect(
            transport.requests.allSatisfy { $0.value(forHTTPHeaderField: "Content-Type") == "application/json" })
        for (sent, expected) in zip(sent, expected) {
            #expect(sent[0] == expected.0 && sent[1] == expected.1)
            let body = try JSONSerialization.jsonObject(with: Data(sent[2].utf8)) as? NSDictionary
            #expect(body == expected.2 as NSDictionary, "\(sent)")
        }
    }

    @Test("reads a counted report with the feature's members beside its own")
    func counted() async throws {
        let body = """
            {"allowed":true,"counted":2,"duplicate":false,"feature":"ai","isUnlimited":false,"limit":50,"name":"AI",
             "period":"day","reason":null,"remaining":8,"requiredTier":null,"resetsAt":"2026-12-01T00:00:00Z","tier":"pro",
             "unit":null,"upgradePrompt":null,"used":42}
            """
        let counted = try await api(ScriptedTransport([.init(body: body)])).report(2, of: "ai")
        #expect(counted.counted == 2 && !counted.duplicate)
        #expect(counted.feature.feature == "ai" && counted.feature.used == 42 && counted.feature.period == .day)
    }

    @Test("reads the Date of an answer, by which the guarded clock is set")
    func date() {
        #expect(ServerDates.header("Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        #expect(ServerDates.header("yesterday") == nil && ServerDates.instant("1994") == nil)
    }
}
