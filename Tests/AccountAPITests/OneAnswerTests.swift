import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import AppleSync
import Base
import Foundation
import Pipeline
import Postgres
import Simulation
import StandInSupport
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import APIKit

/// Account, guard, SQL and command answer alike.
@Suite("All readers")
struct OneAnswerTests {
    /// What each of them says of an account's access to the monthly product.
    private struct Answers: Equatable {
        var status: Bool
        var entitled: Bool
        var listed: Bool
        var guarded: Bool
        var bySQL: Bool?
        var byName: Bool?

        static func all(_ access: Bool) -> Answers {
            Answers(
                status: access, entitled: access, listed: access, guarded: access, bySQL: access, byName: access)
        }
    }

    private static let product = SimulatedProduct.basicMonthly.id

    private func answers(_ shop: Shop, _ account: String) async throws -> Answers {
        let status = try #require(try await shop.get("/v1/subscriptions/status", as: account).object)
        let entitlements = try #require(try await shop.get("/v1/entitlements", as: account).object)
        let lines = status.objects("subscriptions") ?? []
        let row = try await shop.api.observer.query(
            """
            select storehook.has_access(\(UUID(AccountToken.of(account))), \(Self.product)),
                   storehook.has_access_of(\(account), \(Self.product))
            """
        ).one()
        return Answers(
            status: status.bool("hasActiveSubscription") == true,
            entitled: !(entitlements.objects("products") ?? []).isEmpty,
            listed: lines.contains { $0.bool("hasAccess") == true },
            guarded: try await shop.get("/v1/guard", as: account).status == 204,
            bySQL: try row.decode(0, as: Bool?.self), byName: try row.decode(1, as: Bool?.self))
    }

    /// A change by staff reaches the guard by a notification; here no process listens for it.
    private func settled(_ shop: Shop, _ account: String, _ expected: Answers) async throws {
        try await eventually("\(account) \(expected)") { try await answers(shop, account) == expected }
    }

    @Test("say no of a blocked account, and yes again once the block is lifted")
    func blocked() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 201, for: "alice")
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            #expect(try await answers(shop, "alice") == .all(true))
            let pipeline = EvidencePipeline(shop.api.observer)
            _ = try await pipeline.act(.revoke, for: "alice", by: "test", why: "fraud")
            try await settled(shop, "alice", .all(false))
            _ = try await pipeline.act(.unrevoke, for: "alice", by: "test", why: "none")
            try await settled(shop, "alice", .all(true))
        }
    }

    @Test("say no of an erased account and its old token, and of one that nobody ever heard of, and never null")
    func erased() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 202, for: "alice")
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            #expect(try await EvidencePipeline(shop.api.observer).erase("alice", by: "test")?.purchasesFreed == 1)
            try await settled(shop, "alice", .all(false))
            #expect(try await answers(shop, "nobody") == .all(false))
            let nothing = try await shop.api.observer.query(
                "select storehook.has_access(null, 'x') is false and storehook.has_access_of(null, 'x') is false"
            ).one().decode(0, as: Bool.self)
            #expect(nothing)
            // The next account that proves it has it.
            #expect(try await shop.verify(bought.transaction, as: "bob").status == 200)
            #expect(try await answers(shop, "bob") == .all(true))
            let rows: Int64 = try await shop.api.observer.query(
                "select count(*) from storehook.account_status_now where token = \(UUID(AccountToken.of("alice")))"
            ).one().decode(0)
            #expect(rows == 0)
        }
    }

    @Test("say yes of a purchase without a token to the account that proved it, and to nobody else")
    func proven() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 203)
            let proven = try await shop.verify(bought.transaction, as: "alice")
            #expect(proven.status == 200)
            #expect(try await answers(shop, "alice") == .all(true))
            #expect(try await answers(shop, "bob") == .all(false))
        }
    }

    @Test("grants and other tiers change nothing about purchases; the lowest tier takes them")
    func acts() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 204, for: "alice")
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            let pipeline = EvidencePipeline(shop.api.observer)
            func hasAccess(_ account: String) async throws -> Bool? {
                try await answers(shop, account).bySQL
            }
            _ = try await pipeline.act(.changeTier(to: "premium"), for: "alice", by: "test", why: "gift")
            #expect(try await hasAccess("alice") == true)
            _ = try await pipeline.act(.grant(tier: "premium", days: 5), for: "bob", by: "test", why: "gift")
            #expect(try await hasAccess("bob") == false)
            _ = try await pipeline.act(.changeTier(to: "free"), for: "alice", by: "test", why: "no")
            let after = try await answers(shop, "alice")
            #expect(after.bySQL == false && !after.entitled && !after.listed)
        }
    }

    @Test("the guard opens for Sandbox purchases to whom the account API says they count")
    func sandbox() async throws {
        for sandbox in [SandboxAccess.testers(["alice"]), .all] {
            try await Shop.open(sandbox: sandbox) { shop in
                for (lane, account) in ["alice", "carol"].enumerated() {
                    let isIncluded = sandbox.includes(AccountIdentity(named: account))
                    #expect(try await shop.get("/v1/guard", as: account).status == 403)
                    let bought = shop.buy(lane: 205 + lane, for: account, in: .sandbox)
                    #expect(try await shop.verify(bought.transaction, as: account).status == 200)
                    let passed = try await shop.get("/v1/guard?tier=pro", as: account)
                    #expect(passed.status == (isIncluded ? 204 : 403), "\(account)")
                    #expect(passed.header("X-Storehook-Tier") == (isIncluded ? "pro" : nil))
                    let status = try await shop.get("/v1/subscriptions/status", as: account).object
                    #expect(status?.bool("hasActiveSubscription") == isIncluded)
                    #expect(status?.string("environment") == (isIncluded ? "Sandbox" : "Production"))
                    // Of what was bought in Sandbox nothing counts in Production.
                    #expect(try await answers(shop, account).bySQL == false)
                }
            }
        }
    }
}

/// Apple's clock is ahead of the database's.
@Suite("A clock behind Apple's")
struct LateClockTests {
    @Test("is waited for, and what was proven is in the answer and in what every reader says next")
    func waited() async throws {
        try await Shop.open { shop in
            #expect(try await shop.get("/v1/guard", as: "alice").status == 403)
            let bought = shop.buy(lane: 301, for: "alice", ahead: 1500)
            let began = ContinuousClock.now
            let answer = try await shop.verify(bought.transaction, as: "alice")
            #expect(answer.status == 200, "\(answer.body)")
            #expect(ContinuousClock.now - began > .milliseconds(1000))
            #expect(answer.object?.bool("success") == true)
            #expect(answer.object?.object("subscription")?.bool("hasAccess") == true)
            #expect(answer.object?.object("account")?.bool("hasAccess") == true)
            #expect(try await shop.get("/v1/guard", as: "alice").status == 204)
            #expect(try await shop.standing(of: "alice") == "pro active")
            let bySQL: Bool = try await shop.api.observer.query(
                "select storehook.has_access_of('alice', \(SimulatedProduct.basicMonthly.id))"
            ).one().decode(0)
            #expect(bySQL)
        }
    }

    @Test("by more than five seconds is 503 with Retry-After, and the purchase is kept")
    func tooLate() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 302, for: "alice", ahead: 20_000)
            let answer = try await shop.verify(bought.transaction, as: "alice")
            #expect(answer.status == 503 && answer.code == "signed_in_future", "\(answer.body)")
            let pause = try #require(answer.header("Retry-After").flatMap { Int($0) })
            #expect((10...30).contains(pause))
            let kept: Int64 = try await shop.api.observer.query("select count(*) from storehook.transactions").one()
                .decode(0)
            #expect(kept == 1)
            let restored = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", #"{"signedTransactions":["\#(bought.transaction)"]}"#)
            #expect(restored.status == 200 && restored.object?.bool("success") == false)
            let item = try #require(restored.object?.objects("transactions")?.first)
            #expect(item.string("result") == "undecided" && item.string("code") == "signed_in_future")
        }
    }

    @Test("is waited for by more restores at once than there are connections")
    func restored() async throws {
        try await Shop.open { shop in
            // More at once than the API has connections.
            let purchases = (0..<8).map { shop.buy(lane: 310 + $0, for: "person-\($0)", ahead: 3000) }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, bought) in purchases.enumerated() {
                    group.addTask {
                        let answer = try await shop.post(
                            "/v1/subscriptions/restore", as: "person-\(number)",
                            #"{"signedTransactions":["\#(bought.transaction)"]}"#)
                        return answer.object?.bool("success") == true
                            && answer.object?.bool("hasActiveSubscription") == true
                    }
                }
                let records = "select count(*) from storehook.records"
                try await eventually("all are stored") {
                    try await shop.api.observer.query("\(unescaped: records)").one().decode(0, as: Int64.self) == 8
                }
                #expect(try await shop.standing(of: "somebody.else") == "free free")
                for try await isDone in group { #expect(isDone) }
            }
        }
    }

    @Test("is waited for by old receipts, too, and what was moved to somebody else meanwhile is no success")
    func receipts() async throws {
        try await withReceipt { shop, sell in
            let receipt = try sell(1500)
            let answer = try await shop.verify(receipt: receipt, as: "alice")
            #expect(answer.status == 200 && answer.object?.bool("success") == true, "\(answer.body)")
            #expect(answer.object?.object("subscription")?.bool("hasAccess") == true)
            #expect(try await shop.get("/v1/guard", as: "alice").status == 204)
            let late = try sell(20_000)
            let refused = try await shop.verify(receipt: late, as: "bob")
            #expect(refused.status == 503 && refused.code == "signed_in_future", "\(refused.body)")
        }
        // A caller verifies or restores and waits, and staff moves the purchase in that time.
        try await withReceipt { shop, sell in
            func answer(_ path: String, _ members: String) async throws -> Answer {
                async let answer = shop.post("/v1/subscriptions/\(path)", as: "alice", "{\(members)}")
                try await eventually("it is proven") {
                    try await shop.count(
                        "select count(*) from storehook.purchase_bindings where kind = 'proof'") > 0
                }
                let row = try await shop.api.observer.query(
                    "select environment, bundle_id, original_transaction_id from storehook.purchase_bindings"
                ).one()
                let key = PurchaseKey(
                    environment: try row.decode(0), bundleID: try row.decode(1),
                    originalTransactionID: try row.decode(2))
                let moved = try await EvidencePipeline(shop.api.observer).move(
                    key, to: "carol", by: "test", why: "test")
                #expect(moved)
                return try await answer
            }
            func again() async throws {
                try await shop.api.observer.query("delete from storehook.purchase_bindings")
            }
            let verified = try await answer("verify", #""receiptData":"\#(try sell(2500))""#)
            #expect(verified.status == 200 && verified.object?.bool("success") == false, "\(verified.body)")
            try await again()
            let restored = try await answer("restore", #""receiptData":"\#(try sell(2500))""#)
            #expect(restored.object?.bool("success") == false, "\(restored.body)")
            let item = restored.object?.objects("transactions")?.first
            #expect(item?.string("result") == "undecided" && item?.string("code") == "unavailable", "\(restored.body)")
            try await again()
            let bought = shop.buy(lane: 331, ahead: 2500)
            let signed = try await answer(
                "restore", #""signedTransactions":["\#(bought.transaction)"]"#)
            #expect(signed.object?.bool("success") == false, "\(signed.body)")
        }
    }

    /// An app without a key: verifyReceipt alone says what was bought, so many milliseconds ahead of the clock here.
    private func withReceipt(
        _ body: @escaping (Shop, _ sell: (Milliseconds) throws -> String) async throws -> Void
    ) async throws {
        let sold = Mutex<(lane: Int, answer: String)>((340, ""))
        let server = try ScriptedServer { _ in .json(200, sold.withLock(\.answer)) }
        defer { server.stop() }
        let transport = HTTPTransport()
        do {
            try await Shop.open(asking: try ShopsApple(receiptsAt: server, over: transport)) { shop in
                try await body(shop) { ahead in
                    let now = wallClock().millisecondsSince1970
                    let lane = sold.withLock { sold in
                        sold.lane += 1
                        return sold.lane
                    }
                    var customer = SimulatedSubscriber(app: .example.in(.production), lane: lane, seed: UInt64(lane))
                    customer.buy(.basicMonthly, at: now + ahead)
                    let item = customer[customer.allItems[0]]
                    sold.withLock {
                        $0.answer = """
                            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(SimulatedApp.example.bundleId)",\
                            "request_date_ms":"\(now)","in_app":[]},"latest_receipt_info":[\
                            {"transaction_id":"\(item.transactionId)",\
                            "original_transaction_id":"\(item.originalTransactionId)","product_id":"\(item.productId)",\
                            "purchase_date_ms":"\(item.purchaseDate)",\
                            "original_purchase_date_ms":"\(item.originalPurchaseDate)",\
                            "expires_date_ms":"\(item.expiresDate ?? 0)"}]}
                            """
                    }
                    let bytes = try ReceiptSigner(shop.authority.chain).sign(
                        SimulatedReceipt(of: [item], app: .example.in(.production), at: now))
                    return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
                }
            }
            await transport.shutdown()
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    @Test("does not hold up a renewal that was charged ahead: the period before it covers it")
    func chargedAhead() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 303, for: "alice")
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            var record = try #require(bought.notification.transaction)
            let end = try #require(record.expiresDate)
            record.transactionId += "1"
            record.webOrderLineItemId = record.webOrderLineItemId.map { $0 + "1" }
            record.transactionReason = "RENEWAL"
            record.purchaseDate = end
            record.expiresDate = end + 30 * 86_400_000
            record.signedDate = wallClock().millisecondsSince1970
            let began = ContinuousClock.now
            let answer = try await shop.verify(shop.authority.sign(record.json), as: "alice")
            #expect(answer.status == 200 && answer.object?.bool("success") == true, "\(answer.body)")
            #expect(ContinuousClock.now - began < .seconds(3))
        }
    }
}
