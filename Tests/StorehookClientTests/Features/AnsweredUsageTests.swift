import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Use over the account API")
struct AnsweredUsageTests {
    private static let path = "/v1/usage/ai"
    private let desk = AccountDesk()

    private func server() throws -> AccountUsageServer {
        AccountUsageServer(
            api: AccountAPI(
                baseURL: try #require(URL(string: "https://api.example.com")), languages: [], transport: desk
            ) { "t" })
    }

    private static func entry(_ act: UsageAct = .add(2)) -> UsageLedger.Entry {
        .init(feature: "ai", act: act, key: "k", usedAt: StatusSamples.now)
    }

    private static func feature(_ changes: [String: Any] = [:]) -> [String: Any] {
        let members: [String: Any] = [
            "allowed": true, "feature": "ai", "isUnlimited": false, "limit": 50, "period": "day", "remaining": 8,
            "resetsAt": AccountDesk.text(StatusSamples.now + 3600), "tier": "pro", "used": 42,
        ]
        return members.merging(changes) { $1 }
    }

    @Test(
        "The server has the last word on what was used: what it refuses is never counted",
        arguments: [
            (429, "limit_reached", UsageReportFate.refused), (403, "tier_required", .refused),
            (403, "feature_not_included", .refused), (404, "unknown_feature", .refused),
            (400, "not_counted", .refused), (409, "idempotency_key_reused", .refused),
            (400, "invalid_request", .invalid), (503, "unavailable", nil), (401, "token_invalid", nil),
            (429, "rate_limited", nil),
        ] as [(Int, String, UsageReportFate?)])
    func fates(_ status: Int, _ code: String, _ fate: UsageReportFate?) async throws {
        desk.refuse(Self.path, status, code)
        let server = try server()
        if let fate {
            #expect(try await server.report(Self.entry()) == fate)
        } else {
            await #expect(throws: Problem.self) { _ = try await server.report(Self.entry()) }
        }
    }

    @Test("What it counts is its own count, but for the answer to a repeated report")
    func counted() async throws {
        let window = UsageWindow(period: .day, resetsAt: StatusSamples.now + 3600)
        for (isDuplicate, used) in [(false, 42), (true, nil)] as [(Bool, Int64?)] {
            desk.answer(Self.path, Self.feature(["counted": 2, "duplicate": isDuplicate]))
            #expect(try await server().report(Self.entry()) == .counted(used: used, window: window))
        }
        let body = try #require(desk.requests(Self.path).first?.httpBody)
        let sent = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        #expect(sent?["amount"] as? Int == 2 && sent?["idempotencyKey"] as? String == "k")
    }

    @Test("Its counts are read by feature, and what is not counted is left out")
    func counts() async throws {
        desk.answer(
            "/v1/usage/current",
            ["tier": "pro", "usage": [Self.feature(), Self.feature(["feature": "b", "period": NSNull()])]])
        let counts = try await server().counts()
        #expect(counts.keys.sorted() == ["ai"] && counts["ai"]?.used == 42)
    }
}
