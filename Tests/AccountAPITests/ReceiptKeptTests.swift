import AccountAPI
import AppStorePayloads
import AppStoreServerAPI
import AppleSync
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("What is kept of a receipt that is handed in to the account API")
struct ReceiptKeptTests {
    @Test(
        "proves its purchases; what Apple signs of them is applied before the answer, and the same again changes nothing"
    )
    func withKey() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            let first = try await shop.verify(receipt: bought.receipt, as: "alice")
            #expect(first.status == 200, "\(first.body)")
            let subscription = try #require(first.object?.object("subscription"))
            #expect(
                subscription.string("productId") == BoughtReceipt.monthly && subscription.string("status") == "active")
            #expect(subscription.bool("autoRenewStatus") == true)
            #expect(first.object?.object("account")?.string("tier") == "pro")
            #expect(try await shop.standing(of: "alice") == "pro active")
            let before = try await shop.books()
            #expect(before.isWhole && before.pending == 0 && before.parked == 1 && before.applied >= 2)
            #expect(try await shop.verify(receipt: bought.receipt, as: "alice").body == first.body)
            #expect(try await shop.books().received == before.received)
            #expect(try await shop.count("select count(*) from storehook.purchase_bindings") == 1)
            // The first who proves it has it; the second is told so.
            let second = try await shop.verify(receipt: bought.receipt, as: "bob")
            #expect(second.status == 409 && second.code == "bound_elsewhere")
            let signed = try await standIn.buy(for: "carol")
            let other = try await shop.verify(receipt: signed.receipt, as: "bob")
            #expect(other.status == 403 && other.code == "other_account", "\(other.body)")
            #expect(try await shop.verify(receipt: signed.receipt, as: "carol").status == 200)
            #expect(try await shop.standing(of: "bob") == "free free")
        }
    }

    @Test("is kept once, however the container around what is signed is written, and whoever hands it in")
    func variants() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            let receipt = SimulatedReceipt(attributes: [
                .text(0, "Production"), .text(2, SimulatedApp.example.bundleId), .date(12, shop.now - 30_000),
                .purchase([
                    .text(1702, BoughtReceipt.monthly), .text(1703, bought.transaction), .text(1705, bought.original),
                    .date(1704, shop.now - 86_400_000),
                ]),
            ])
            var signer = ReceiptSigner(standIn.access.authority.chain)
            var texts: [String] = []
            for form in ReceiptSigner.Form.allCases {
                for more in [0, 1, 2] {
                    signer.form = form
                    signer.chain = standIn.access.authority.chain
                    signer.chain += Array(repeating: signer.chain[2], count: more)
                    signer.signsAttributes = more == 2
                    texts.append(
                        String(decoding: Base64.standard.encode(try signer.sign(receipt)), as: UTF8.self))
                }
            }
            #expect(Set(texts).count == texts.count)
            let first = try await shop.verify(receipt: texts[0], as: "alice")
            #expect(first.status == 200, "\(first.body)")
            let before = try await shop.books()
            #expect(before.isWhole && before.parked == 1)
            for (number, text) in texts.enumerated() {
                #expect(try await shop.verify(receipt: text, as: "alice\(number)").status == 409)
            }
            for text in texts.prefix(9) { #expect(try await shop.verify(receipt: text, as: "alice").status == 200) }
            #expect(try await shop.books().received == before.received)
            // Another receipt of the same purchase is another.
            var later = receipt
            later.attributes[2] = .date(12, shop.now - 20_000)
            let other = String(decoding: Base64.standard.encode(try signer.sign(later)), as: UTF8.self)
            #expect(try await shop.verify(receipt: other, as: "bob").status == 409)
            let after = try await shop.books()
            #expect(after.isWhole && after.received == before.received + 1)
        }
    }

    @Test(
        "of iOS 6, for which verifyReceipt alone vouches, is kept once as well, whatever is written around what Apple reads"
    )
    func transactionReceipts() async throws {
        let asked = SharedNumber()
        let now = wallClock().millisecondsSince1970
        let server = try ScriptedServer { _ in
            asked.value += 1
            return .json(
                200,
                """
                {"status":0,"environment":"Production","receipt":{"bid":"\(SimulatedApp.example.bundleId)",\
                "transaction_id":"77","original_transaction_id":"77","product_id":"\(BoughtReceipt.lifetime)",\
                "purchase_date_ms":"\(now - 86_400_000)","request_date_ms":"\(now - 60_000 + Int64(asked.value))"}}
                """)
        }
        defer { server.stop() }
        let transport = HTTPTransport()
        let apple = try ShopsApple(receiptsAt: server, over: transport)
        func receipt(_ more: String) -> String {
            let info = String(
                decoding: Base64.standard.encode(Array(#"{ "transaction-id" = "77"; }"#.utf8)), as: UTF8.self)
            let text = #"{ "signature" = "AA=="; "purchase-info" = "\#(info)"; \#(more)}"#
            return String(decoding: Base64.standard.encode(Array(text.utf8)), as: UTF8.self)
        }
        do {
            try await Shop.open(asking: apple) { shop in
                #expect(try await shop.verify(receipt: receipt(""), as: "alice").status == 200)
                let before = try await shop.books()
                #expect(before.isWhole && before.parked == 2)
                for more in [" ", #""pod" = "1";"#, #""x" = "\#(String(repeating: "y", count: 1000))";"#] {
                    #expect(try await shop.verify(receipt: receipt(more), as: "alice").status == 200)
                }
                #expect(asked.value == 4)
                #expect(try await shop.books().received == before.received)
            }
            await transport.shutdown()
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    @Test("is taken in while an account has handed in no more different ones than it may; then it is told to come back")
    func tooMany() async throws {
        try await withReceiptShop(mostNewReceipts: 2) { shop, standIn in
            let bought = [try await standIn.buy(), try await standIn.buy(), try await standIn.buy()]
            for one in bought.prefix(2) + bought.prefix(2) {
                #expect(try await shop.verify(receipt: one.receipt, as: "alice").status == 200)
            }
            let before = try await shop.books()
            let refused = try await shop.verify(receipt: bought[2].receipt, as: "alice")
            #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused.body)")
            #expect(refused.header("Retry-After").flatMap { Int($0) }.map { 800...901 ~= $0 } == true)
            // Nothing came of it, and others are not concerned.
            #expect(try await shop.books().received == before.received)
            #expect(try await shop.verify(receipt: bought[0].receipt, as: "alice").status == 200)
            #expect(try await shop.verify(receipt: bought[2].receipt, as: "bob").status == 200)
        }
    }

    @Test("has to be of what is said beside it, in either spelling; otherwise nothing is kept and nothing bound")
    func mismatched() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            for more in [
                #","productId":"something.else""#, #","transactionId":"1""#,
                #","product_id":"something.else""#,
                #","productId":"\#(BoughtReceipt.lifetime)","transactionId":"\#(bought.transaction)""#,
            ] {
                let answer = try await shop.verify(receipt: bought.receipt, as: "alice", more)
                #expect(answer.status == 400 && answer.code == "mismatched_request", "\(more) \(answer.body)")
            }
            let wrong = #"{"signedTransactionInfo":"\#(bought.signed)","transactionId":"1"}"#
            #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", wrong).code == "mismatched_request")
            #expect(try await shop.books().received == 0)
            #expect(try await shop.count("select count(*) from storehook.purchase_bindings") == 0)
            let right = #","productId":"\#(BoughtReceipt.monthly)","transactionId":"\#(bought.transaction)""#
            #expect(try await shop.verify(receipt: bought.receipt, as: "alice", right).status == 200)
            let empty = try await shop.verify(receipt: "", as: "alice")
            #expect(empty.status == 400 && empty.code == "invalid_request")
        }
    }

    @Test("that nobody vouches for proves nothing: Apple is not asked, nothing is kept, and nobody has anything by it")
    func unproven() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            var customer = SimulatedSubscriber(app: .example.in(.production), lane: 40, seed: 40)
            customer.buy(.basicMonthly, at: shop.now)
            var receipt = SimulatedReceipt(
                of: customer.allItems.map { customer[$0] }, app: .example.in(.production), at: shop.now)
            // Another customer's purchase, whose id anybody may have seen.
            receipt.attributes.insert(
                .purchase([
                    .text(1702, BoughtReceipt.monthly), .text(1703, bought.transaction), .text(1705, bought.original),
                ]),
                at: 0)
            let forged = try ReceiptSigner(SimulatedAuthority.generate().chain).sign(receipt)
            let text = String(decoding: Base64.standard.encode(forged), as: UTF8.self)
            let answer = try await shop.verify(receipt: text, as: "mallory")
            #expect(answer.status == 400 && answer.code == "untrusted_root", "\(answer.body)")
            for junk in ["junk", "e30=", String(repeating: "A", count: 100_000)] {
                let answer = try await shop.verify(receipt: junk, as: "mallory")
                #expect(answer.status == 400 && answer.code == "malformed", "\(answer.body)")
                let restored = try await shop.post(
                    "/subscriptions/restore", as: "mallory", #"{"receiptData":"\#(junk)"}"#)
                #expect(restored.status == 400 && restored.code == "malformed", "\(restored.body)")
            }
            #expect(try await shop.books().received == 0)
            #expect(try await shop.standing(of: "mallory") == "free free")
        }
    }

    @Test(
        "is proven by verifyReceipt where a shared secret is all there is, and what that says counts at once, and once")
    func withSecret() async throws {
        try await withReceiptShop(key: false, secret: true) { shop, standIn in
            let bought = try await standIn.buy()
            // EmoFlow's own request, word for word.
            let body =
                #"{"receipt_data":"\#(bought.receipt)","password":"not-a-secret-of-ours","product_id":"\#(BoughtReceipt.monthly)","transaction_id":"\#(bought.transaction)"}"#
            let first = try await shop.post("/subscription/verify", as: "alice", body)
            #expect(
                first.status == 200
                    && first.body.hasPrefix(
                        #"{"status":"success","message":"订阅验证成功","subscription":{"status":"active","#),
                "\(first.body)")
            #expect(first.object?.object("subscription")?.string("product_id") == BoughtReceipt.monthly)
            #expect(first.object?.object("subscription")?.bool("is_member") == true)
            let before = try await shop.books()
            #expect(before.isWhole && before.pending == 0 && before.parked == 2 && before.applied == 2)
            #expect(try await shop.count("select count(*) from storehook.purchase_facts where is_unsigned") == 2)
            #expect(try await shop.post("/subscription/verify", as: "alice", body).body == first.body)
            #expect(try await shop.books().received == before.received)
            // What has changed is news.
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(bought.original)"}"#)
            let restored = try await shop.post(
                "/subscription/restore", as: "alice", #"{"receipt_data":"\#(bought.receipt)"}"#)
            #expect(restored.object?.string("message") == "恢复购买成功", "\(restored.body)")
            #expect(restored.object?.object("subscription")?.string("status") == "cancelled")
            #expect(try await shop.books().isWhole)
            // There is no key to refresh with.
            #expect(try await shop.post("/v1/subscriptions/refresh", as: "alice").code == "no_apple_key")
            // Another's.
            let other = try await shop.post(
                "/subscription/restore", as: "bob", #"{"receipt_data":"\#(bought.receipt)"}"#)
            #expect(other.status == 409 && other.body == #"{"detail":"该订阅已绑定到其他账号"}"#)
        }
    }

    @Test("of Sandbox opens nothing in Production, and one that lists nothing proves nothing")
    func sandbox() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy(in: "Sandbox")
            let answer = try await shop.verify(receipt: bought.receipt, as: "alice")
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.object?.object("subscription")?.string("environment") == "Sandbox")
            #expect(answer.object?.object("account")?.string("tier") == "free")
            let empty = try ReceiptSigner(standIn.access.authority.chain).sign(
                SimulatedReceipt(of: [], app: .example.in(.production), at: shop.now))
            let nothing = try await shop.verify(
                receipt: String(decoding: Base64.standard.encode(empty), as: UTF8.self), as: "bob")
            #expect(nothing.status == 400 && nothing.code == "nothing_bought", "\(nothing.body)")
        }
    }

    @Test("proves by Apple's signature whose a known purchase is where nobody can be asked; an unknown one has to wait")
    func withoutAnything() async throws {
        try await withReceiptShop(key: false) { shop, standIn in
            let bought = try await standIn.buy()
            let unknown = try await shop.verify(receipt: bought.receipt, as: "alice")
            #expect(unknown.status == 503 && unknown.code == "no_apple_key", "\(unknown.body)")
            #expect(try await shop.verify(bought.signed, as: "bob").status == 200)
            #expect(try await shop.verify(receipt: bought.receipt, as: "bob").status == 200)
            #expect(try await shop.verify(receipt: bought.receipt, as: "alice").code == "bound_elsewhere")
        }
    }
}
