import Foundation
import Testing

@testable import StorehookClient

@Suite("A report of use that is refused")
struct UsageRefusalTests {
    private func fate(_ status: Int, _ body: String) async throws -> UsageReportFate {
        let server = AccountUsageServer(
            api: AccountAPI(
                baseURL: try #require(URL(string: "https://storehook.example")),
                transport: ScriptedTransport([.init(status: status, body: body)])
            ) { "token" })
        var ledger = UsageLedger(account: "alice")
        try ledger.count(.add(1), of: "export", limit: .unlimited, key: "1", at: MovedClock.start, in: .gmt)
        return try await server.report(try #require(ledger.pending.first))
    }

    @Test("for good, also by a word of a later release, makes room for those behind it")
    func later() async throws {
        for status in [400, 404, 409, 410, 422] {
            #expect(try await fate(status, #"{"code": "word_of_later"}"#) == .refused, "\(status)")
        }
    }

    @Test("by a proxy, or for now, is sent again")
    func again() async throws {
        for (status, body) in [
            (404, "<html>"), (413, "<html>"), (401, #"{"code": "token_invalid"}"#), (429, #"{"code": "busy"}"#),
            (403, #"{"code": "word_of_later"}"#), (503, #"{"code": "away"}"#),
        ] {
            await #expect(throws: (any Error).self, "\(status)") { try await fate(status, body) }
        }
    }
}
