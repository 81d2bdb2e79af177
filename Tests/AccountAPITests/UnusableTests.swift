import AccountAPI
import AppStorePayloads
import Postgres
import Simulation
import TestSupport
import Testing

@testable import APIKit

@Suite("A transaction that gives nothing, for it does not say what it is of,")
struct UnusableTests {
    @Test("is kept and refused for good, by verifying and by restoring, and not as one that is to be handed in again")
    func kindless() async throws {
        try await Shop.open { shop in
            let json = String(decoding: shop.buy(lane: 1).notification.transaction?.json ?? [], as: UTF8.self)
                .replacing(#""type":"#, with: #""kind":"#)
            let signed = shop.authority.sign(Array(json.utf8))
            for _ in 0..<2 {
                let answer = try await shop.verify(signed, as: "alice")
                #expect(answer.status == 400 && answer.code == "purchase_unusable", "\(answer.body)")
            }
            #expect(try await shop.count("select count(*) from storehook.purchase_facts") == 1)
            let restored = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", #"{"signedTransactions":["\#(signed)"]}"#)
            let item = try #require(restored.object?.objects("transactions")?.first)
            #expect(item.string("result") == "invalid" && item.string("code") == "purchase_unusable")
        }
    }
}
