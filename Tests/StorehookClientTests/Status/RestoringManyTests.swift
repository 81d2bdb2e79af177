import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Restoring more than the server takes at once")
struct RestoringManyTests {
    @Test("sends a hundred at a time, and each transaction has its fate in its place")
    func parts() async throws {
        let desk = AccountDesk()
        let api = AccountAPI(
            baseURL: try #require(URL(string: "https://api.example.com")), languages: [], transport: desk
        ) { "t" }
        desk.answer("/v1/subscriptions/restore", AccountDesk.restoration("restored"))
        let server = AccountStatusServer(api: api)
        let restored = try await server.restore((1...250).map { StatusSamples.transaction($0) }).value
        let sent = try desk.requests("/v1/subscriptions/restore").map { request in
            let body = try JSONSerialization.jsonObject(with: try #require(request.httpBody)) as? [String: [String]]
            return body?["signedTransactions"]?.count
        }
        #expect(sent == [100, 100, 50])
        #expect(restored.fates == [.own, .own, .own], "as many as the three answers have")
        #expect(restored.accountID == "alice")
    }
}
