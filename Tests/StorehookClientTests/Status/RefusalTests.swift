import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@MainActor
@Suite("A refusal")
struct RefusalTests {
    /// Answers by path: the account's own answer, and one for all else.
    struct Answering: HTTPTransport {
        var account = (
            200,
            #"""
            {
                "id": "alice", "appAccountToken": "8c1aa1a3-5796-5a41-af00-ab65ff930c25", "displayStatus": "Free",
                "environment": "Production", "hasAccess": false, "source": "none", "status": "free", "tier": "free",
                "tierName": "Free", "version": 1
            }
            """#
        )
        var verify: (Int, String)

        func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
            guard let url = request.url else { throw URLError(.badURL) }
            let (status, body) = url.path.hasSuffix("/account") ? account : verify
            guard let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil) else {
                throw URLError(.badServerResponse)
            }
            return (Data(body.utf8), head)
        }
    }

    private let phone = StatusPhone()

    private func launch(_ transport: any HTTPTransport) async throws -> SubscriptionManager {
        let api = AccountAPI(
            baseURL: try #require(URL(string: "https://storehook.example")), transport: transport
        ) { "token" }
        let manager = SubscriptionManager(
            api: api, source: phone.store, cache: phone.cache, grace: StatusPhone.grace, clock: phone.clock)
        await manager.signIn(accountID: "alice")
        await manager.start()
        return manager
    }

    @Test("of a proxy says nothing of a purchase, which is handed in again", arguments: [400, 403, 409, 422])
    func proxy(status: Int) async throws {
        phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token) }
        let page = (status, "<html>blocked</html>")
        for transport in [Answering(account: page, verify: page), Answering(verify: page)] {
            let manager = try await launch(transport)
            #expect(manager.isSubscribed && manager.known?.refused == [] && manager.turn.settled.isEmpty)
            #expect(manager.error != .otherAccount && manager.error != .verificationFailed)
            manager.signOut()
        }
    }

    @Test("of the server's gives nothing, is not asked for again in this process, and says what it is")
    func server() async throws {
        for (status, code, error) in [
            (403, "other_account", ClientError.otherAccount), (409, "bound_elsewhere", .otherAccount),
            (403, "environment_forbidden", .unknown),
        ] {
            phone.store.with { $0 = FakeStore.Shelf() }
            phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token) }
            let manager = try await launch(Answering(verify: (status, #"{"code": "\#(code)"}"#)))
            #expect(!manager.isSubscribed && manager.known?.refused == ["1001"], "\(code)")
            #expect(await manager.purchase("pro.monthly") == .failed(error), "\(code)")
            manager.signOut()
        }
    }

    @Test("of what was handed in says whether the product or the signature is meant")
    func rejected() async throws {
        for (code, error) in [("unknown_product", ClientError.product), ("invalid_signature", .verificationFailed)] {
            let manager = try await launch(Answering(verify: (400, #"{"code": "\#(code)"}"#)))
            #expect(await manager.purchase("pro.monthly") == .failed(error), "\(code)")
            #expect(phone.store.with { $0.finished } == [])
            manager.signOut()
        }
    }
}
