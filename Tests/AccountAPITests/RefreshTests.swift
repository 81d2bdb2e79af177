import AccountAPI
import AccountStore
import AppStorePayloads
import EvidenceStore
import Postgres
import Simulation
import StandInSupport
import Testing

@testable import APIKit

@Suite("A refresh of the account API's")
struct RefreshTests {
    /// A customer buys at the stand-in, whose notifications reach no receiver, and hands in what Apple signed. Returns the original transaction.
    private func buy(_ shop: Shop, _ standIn: RunningStandIn, as account: String) async throws -> String {
        let sold = try await standIn.shop(
            "purchases", #"{"productId":"com.example.storehook.basic.monthly","environment":"Production"}"#)
        let answer = try await shop.verify(try #require(sold.string("signedTransactionInfo")), as: account)
        #expect(answer.status == 200, "\(answer.body)")
        return try #require(sold.string("originalTransactionId"))
    }

    private func withShop(_ body: @escaping @Sendable (Shop, RunningStandIn) async throws -> Void) async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
            try await Shop.open(
                signedBy: standIn.access.authority, asking: ShopsApple(server: standIn.client)
            ) { try await body($0, standIn) }
        }
    }

    @Test(
        "applies what Apple says before it answers, of a purchase that was bound by proof as well, and queues nothing")
    func applied() async throws {
        try await withShop { shop, standIn in
            let original = try await buy(shop, standIn, as: "alice")
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(original)"}"#)
            #expect(try await shop.standing(of: "alice") == "pro active")
            let answer = try await shop.post("/v1/subscriptions/refresh", as: "alice")
            #expect(answer.status == 200 && answer.object?.string("status") == "cancelled", "\(answer.body)")
            let books = try await Outbox(shop.api.observer).conservation(audit: true)
            #expect(books.isWhole && books.pending == 0)
            // Apple signs what it answers anew: the same is no news.
            #expect(try await shop.post("/subscription/refresh", as: "alice").status == 200)
            #expect(try await Outbox(shop.api.observer).conservation().received == books.received)
            let limited = try await shop.post("/v1/subscriptions/refresh", as: "alice")
            #expect(limited.status == 429 && limited.header("Retry-After") != nil)
        }
    }

    @Test("comes with restoring nothing, which tells what is known where the account was refreshed just now")
    func restored() async throws {
        try await withShop { shop, standIn in
            let original = try await buy(shop, standIn, as: "alice")
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(original)"}"#)
            let answer = try await shop.post("/v1/subscriptions/restore", as: "alice")
            #expect(answer.status == 200 && answer.object?.string("status") == "cancelled", "\(answer.body)")
            for _ in 0..<3 {
                #expect(
                    try await shop.post("/subscriptions/restore", as: "alice").object?.string("status") == "CANCELLED")
            }
        }
    }

    @Test("asks about what is the account's now, and not about what moved to another")
    func moved() async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
            let asked = HeldTransport(standIn.transport)
            asked.open()
            let apple = ShopsApple(server: try standIn.client(over: asked))
            try await Shop.open(rule: .transfer, signedBy: standIn.access.authority, asking: apple) { shop in
                let sold = try await standIn.shop(
                    "purchases", #"{"productId":"com.example.storehook.basic.monthly","environment":"Production"}"#)
                let signed = try #require(sold.string("signedTransactionInfo"))
                #expect(try await shop.verify(signed, as: "alice").status == 200)
                #expect(try await shop.verify(signed, as: "bob").status == 200)
                let former = try await shop.post("/v1/subscriptions/refresh", as: "alice")
                #expect(former.status == 200 && former.object?.string("tier") == "free", "\(former.body)")
                #expect(asked.asked == 0)
                #expect(try await shop.post("/v1/subscriptions/refresh", as: "bob").status == 200)
                #expect(asked.asked > 0)
            }
        }
    }

    @Test("is answered 503 while Apple is away, and a worker asks later")
    func away() async throws {
        try await withShop { shop, standIn in
            _ = try await buy(shop, standIn, as: "alice")
            try await standIn.shop("errors", #"{"path":"/inApps/","code":503,"count":100}"#)
            let answer = try await shop.post("/v1/subscriptions/refresh", as: "alice")
            #expect(answer.status == 503 && answer.code == "apple_unavailable", "\(answer.body)")
            #expect(answer.header("Retry-After") != nil)
            let queued: Int64 = try await shop.api.observer.query("select count(*) from storehook.refresh_queue").one()
                .decode(0)
            #expect(queued == 1)
            #expect(try await shop.standing(of: "alice") == "pro active")
        }
    }
}
