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

@Suite("What a receipt that is handed in to the account API is answered")
struct ReceiptAnswerTests {
    @Test("is refused in EmoFlow's dialect with the document's texts, and in our own with codes that stay")
    func statuses() async throws {
        let status = SharedNumber()
        let server = try ScriptedServer { _ in .json(200, #"{"status":\#(status.value)}"#) }
        defer { server.stop() }
        let transport = HTTPTransport()
        var customer = SimulatedSubscriber(lane: 41, seed: 41)
        customer.buy(.basicMonthly, at: wallClock().millisecondsSince1970 - 60_000)
        let bytes = try ReceiptSigner(SimulatedAuthority.generate().chain).sign(
            SimulatedReceipt(
                of: customer.allItems.map { customer[$0] }, app: .example,
                at: wallClock().millisecondsSince1970 - 30_000))
        let receipt = String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
        let apple = try ShopsApple(receiptsAt: server, over: transport)
        do {
            try await Shop.open(asking: apple) { shop in
                for (number, text, code) in [
                    (21000, "App Store 无法读取收据数据", "receipt_request_not_posted"),
                    (21002, "收据数据格式错误", "receipt_malformed"), (21003, "收据验证失败", "receipt_not_authentic"),
                    (21004, "共享密钥不匹配", "shared_secret_mismatch"),
                    (21005, "收据服务器暂时不可用", "apple_unavailable"),
                    (21006, "收据有效但订阅已过期", "receipt_subscription_expired"),
                    (21010, "收据无法被授权", "receipt_account_not_found"),
                    (21009, "收据服务器暂时不可用", "apple_unavailable"), (29999, "收据验证失败", "receipt_unproven"),
                ] {
                    status.value = number
                    let expected = number == 21005 || number == 21009 ? 503 : 400
                    // Each for itself: an account may not ask that often.
                    let emo = try await shop.post(
                        "/subscription/verify", as: "emo\(number)", #"{"receipt_data":"\#(receipt)"}"#)
                    #expect(
                        emo.status == expected && emo.body == #"{"detail":"Apple 验证失败: \#(text)"}"#,
                        "\(number): \(emo.status) \(emo.body)")
                    let own = try await shop.verify(receipt: receipt, as: "own\(number)")
                    #expect(own.status == expected && own.code == code, "\(number): \(own.body)")
                    #expect((own.header("Retry-After") != nil) == (expected == 503))
                }
                // Two environments that send to each other.
                for number in [21007, 21008] {
                    status.value = number
                    let emo = try await shop.post(
                        "/subscription/verify", as: "emo\(number)", #"{"receipt_data":"\#(receipt)"}"#)
                    #expect(
                        emo.status == 400 && emo.body.contains(number == 21007 ? "收据是沙盒收据" : "收据是生产收据"), "\(emo.body)")
                }
                let malformed = try await shop.post("/subscription/verify", as: "a", #"{"receipt_data":"x"}"#)
                #expect(malformed.body == #"{"detail":"Apple 验证失败: 收据数据格式错误"}"#)
                #expect(try await shop.books().received == 0)
            }
            await transport.shutdown()
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    @Test("is answered 503 while Apple is away, and nothing is kept; whoever hands in too many waits")
    func away() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            try await standIn.shop(
                "errors", #"{"path":"/inApps/","code":503,"count":100}"#)
            let answer = try await shop.verify(receipt: bought.receipt, as: "alice")
            #expect(answer.status == 503 && answer.code == "apple_unavailable", "\(answer.body)")
            #expect(answer.header("Retry-After") != nil)
            #expect(try await shop.books().received == 0)
            #expect(try await shop.standing(of: "alice") == "free free")
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(try await shop.verify(receipt: "junk", as: "eve").status) }
            #expect(statuses == Array(repeating: 400, count: 10) + [429, 429])
        }
    }

    @Test(
        "of a purchase that is known as far as it tells is answered while Apple is away, and one that tells more is not"
    )
    func awayAndKnown() async throws {
        try await withReceiptShop { shop, standIn in
            let bought = try await standIn.buy()
            let other = try await standIn.buy(BoughtReceipt.lifetime, customer: bought.customer)
            #expect(try await shop.verify(bought.signed, as: "alice").status == 200)
            try await standIn.shop("errors", #"{"path":"/inApps/","code":503,"count":1000}"#)
            let known = try await shop.verify(receipt: bought.receipt, as: "alice")
            #expect(known.status == 200, "\(known.body)")
            #expect(known.object?.object("account")?.string("tier") == "pro")
            #expect(try await shop.verify(receipt: bought.receipt, as: "bob").code == "bound_elsewhere")
            // A worker asks for the rest.
            #expect(try await shop.count("select count(*) from storehook.refresh_queue") > 0)
            // The other receipt lists a purchase that is not known here.
            let restored = try await shop.post(
                "/subscriptions/restore", as: "alice", #"{"receiptData":"\#(other.receipt)"}"#)
            let fates = restored.object?.objects("transactions")?.map {
                "\($0.string("originalTransactionId") ?? "") \($0.string("result") ?? "")"
            }
            #expect(
                Set(fates ?? []) == ["\(bought.original) known", "\(other.original) undecided"], "\(restored.body)")
            let meant = try await shop.verify(
                receipt: other.receipt, as: "alice", #","transactionId":"\#(other.transaction)""#)
            #expect(meant.status == 503 && meant.code == "apple_unavailable", "\(meant.body)")
            // What is bound is told, and a refresh, which is a question to Apple, is not answered without it.
            let nothing = try await shop.post("/v1/subscriptions/restore", as: "alice")
            #expect(nothing.status == 200 && nothing.object?.string("tier") == "pro", "\(nothing.body)")
            #expect(try await shop.post("/v1/subscriptions/refresh", as: "alice").code == "apple_unavailable")
        }
    }

    @Test("that tells of a later period than is known has to wait for Apple")
    func awayAndRenewed() async throws {
        try await withReceiptShop { shop, standIn in
            var customer = SimulatedSubscriber(app: .example.in(.production), lane: 45, seed: 45)
            let line = customer.buy(.basicMonthly, at: shop.now - 40 * 86_400_000)
            let signer = ReceiptSigner(standIn.access.authority.chain)
            func receipt() throws -> String {
                let items = customer.allItems.map { customer[$0] }
                let bytes = try signer.sign(
                    SimulatedReceipt(of: items, app: .example.in(.production), at: shop.now))
                return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
            }
            let first = try #require(customer.takeNotifications().first?.transaction?.json)
            #expect(try await shop.verify(standIn.access.authority.sign(first), as: "alice").status == 200)
            try await standIn.shop("errors", #"{"path":"/inApps/","code":503,"count":1000}"#)
            #expect(try await shop.verify(receipt: try receipt(), as: "alice").status == 200)
            customer.renew(line)
            let renewed = try await shop.verify(receipt: try receipt(), as: "alice")
            #expect(renewed.status == 503 && renewed.code == "apple_unavailable", "\(renewed.body)")
        }
    }

    @Test("of a purchase so fresh that Apple does not know it yet has to wait; of an old one it is Apple's last word")
    func fresh() async throws {
        try await withReceiptShop { shop, standIn in
            func receipt(lane: Int, boughtAt instant: Milliseconds) throws -> String {
                var customer = SimulatedSubscriber(app: .example.in(.production), lane: lane, seed: UInt64(lane))
                customer.buy(.basicMonthly, at: instant)
                let bytes = try ReceiptSigner(standIn.access.authority.chain).sign(
                    SimulatedReceipt(
                        of: customer.allItems.map { customer[$0] }, app: .example.in(.production), at: shop.now))
                return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
            }
            let fresh = try receipt(lane: 46, boughtAt: shop.now - 60_000)
            let answer = try await shop.verify(receipt: fresh, as: "alice")
            #expect(answer.status == 503 && answer.code == "apple_unavailable", "\(answer.body)")
            #expect(answer.header("Retry-After") != nil)
            #expect(try await shop.books().received == 0)
            let emo = try await shop.post("/subscription/restore", as: "alice", #"{"receipt_data":"\#(fresh)"}"#)
            #expect(emo.status == 503, "\(emo.body)")
            // No worker asks at once, when Apple would say the same.
            #expect(
                try await shop.count(
                    "select count(*) from storehook.refresh_queue where due_at > now() + interval '30 s'") == 1)
            let old = try receipt(lane: 47, boughtAt: shop.now - 2 * 86_400_000)
            let unknown = try await shop.verify(receipt: old, as: "alice")
            #expect(unknown.status == 400 && unknown.code == "purchase_unknown", "\(unknown.body)")
            #expect(try await shop.count("select count(*) from storehook.refresh_queue") == 1)
        }
    }

    @Test("waits for Apple with no transaction open and no connection held")
    func waiting() async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
            let held = HeldTransport(standIn.transport)
            let apple = ShopsApple(server: try standIn.client(over: held))
            try await Shop.open(signedBy: standIn.access.authority, asking: apple) { shop in
                let bought = try await standIn.buy()
                // More than the API has connections, and fewer than the test's client has.
                let requests = (0..<6).map { number in
                    Task { try await shop.verify(receipt: bought.receipt, as: "account\(number)").status }
                }
                try await eventually("all wait for Apple") { held.asked >= requests.count }
                #expect(try await shop.standing(of: "carol") == "free free")
                let open = try await shop.count(
                    """
                    select count(*) from pg_stat_activity
                     where datname = current_database() and state like 'idle in transaction%'
                    """)
                #expect(open == 0)
                held.open()
                var statuses: [Int] = []
                for request in requests { statuses.append(try await request.value) }
                // One of them was the first.
                #expect(statuses.sorted() == [200] + Array(repeating: 409, count: 5))
            }
        }
    }

    @Test("restores each purchase that it proves, with its fate, in Readmigo's way as well")
    func restore() async throws {
        try await withReceiptShop { shop, standIn in
            let mine = try await standIn.buy()
            let both = try await standIn.buy(BoughtReceipt.lifetime, customer: mine.customer)
            let unsold = try await standIn.buy("com.example.storehook.news.monthly", customer: mine.customer)
            #expect(try await shop.verify(receipt: mine.receipt, as: "bob").status == 200)
            let answer = try await shop.post(
                "/subscriptions/restore", as: "alice", #"{"receiptData":"\#(unsold.receipt)"}"#)
            #expect(answer.status == 200, "\(answer.body)")
            let fates = try #require(answer.object?.objects("transactions")).map {
                "\($0.string("originalTransactionId") ?? "") \($0.string("result") ?? "")"
            }
            #expect(
                Set(fates) == [
                    "\(mine.original) bound_elsewhere", "\(both.original) restored",
                    "\(unsold.original) unknown_product",
                ])
            #expect(answer.object?.bool("success") == false && answer.object?.integer("restored") == 1)
            #expect(try await shop.standing(of: "alice") == "premium active")
            // Readmigo's app sends the receipt for each purchase.
            let readmigo =
                #"{"receiptData":"\#(unsold.receipt)","productId":"\#(BoughtReceipt.lifetime)","transactionId":"\#(both.transaction)"}"#
            let verified = try await shop.post("/subscriptions/verify", as: "alice", readmigo)
            #expect(
                verified.object?.object("subscription")?.string("productId") == BoughtReceipt.lifetime,
                "\(verified.body)")
            let unknown = try await shop.verify(
                receipt: unsold.receipt, as: "alice", #","transactionId":"\#(unsold.transaction)""#)
            #expect(unknown.status == 400 && unknown.code == "unknown_product", "\(unknown.body)")
        }
    }

    @Test("that is older than the transaction beside it takes nothing from it, in either dialect")
    func stale() async throws {
        try await withReceiptShop { shop, standIn in
            let old = try await standIn.buy()
            // From another customer's device, so that Apple, asked about the receipt, does not tell of it either.
            let fresh = try await standIn.buy(BoughtReceipt.lifetime)
            let said = #""transactionId":"\#(fresh.transaction)","productId":"\#(BoughtReceipt.lifetime)""#
            let both = #""signedTransactionInfo":"\#(fresh.signed)","receiptData":"\#(old.receipt)",\#(said)"#
            let verified = try await shop.post("/v1/subscriptions/verify", as: "alice", "{\(both)}")
            #expect(verified.status == 200, "\(verified.body)")
            let list = #"{"signedTransactions":["\#(fresh.signed)"],"receiptData":"\#(old.receipt)",\#(said)}"#
            let restored = try await shop.post("/v1/subscriptions/restore", as: "alice", list)
            #expect(
                restored.object?.objects("transactions")?.map { $0.string("result") } == ["known", "restored"],
                "\(restored.body)")
            // What is true of neither: the transaction counts, and the receipt does not.
            let neither = list.replacing(said, with: #""transactionId":"1""#)
            let partly = try await shop.post("/v1/subscriptions/restore", as: "alice", neither)
            let parts = partly.object?.objects("transactions")
            #expect(parts?.map { $0.string("result") } == ["known", "invalid"], "\(partly.body)")
            #expect(parts?.last?.string("code") == "mismatched_request" && partly.object?.bool("success") == false)
            // A receipt that cannot be read, and Apple who is away.
            let junk = list.replacing(old.receipt, with: "junk")
            #expect(try await shop.post("/v1/subscriptions/restore", as: "alice", junk).status == 200)
            try await standIn.shop("errors", #"{"path":"/inApps/","code":503,"count":100}"#)
            let other = try await standIn.buy()
            let away = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", list.replacing(old.receipt, with: other.receipt))
            #expect(
                away.object?.objects("transactions")?.map { $0.string("result") } == ["known", "undecided"],
                "\(away.body)")
        }
        try await withReceiptShop { shop, standIn in
            let old = try await standIn.buy()
            let fresh = try await standIn.buy(BoughtReceipt.lifetime)
            func body(_ signed: String) -> String {
                #"{"signedTransactionInfo":"\#(signed)","receipt_data":"\#(old.receipt)","transaction_id":"\#(fresh.transaction)"}"#
            }
            for path in ["/subscription/restore", "/subscription/verify"] {
                let answer = try await shop.post(path, as: "alice", body(fresh.signed))
                #expect(answer.status == 200, "\(answer.body)")
                #expect(answer.object?.object("subscription")?.bool("is_member") == true)
            }
            // Restoring tells of all together: where nothing is proven that is the answer.
            let forged = try await shop.post("/subscription/restore", as: "bob", #"{"signedTransactionInfo":"x.y.z"}"#)
            #expect(forged.status == 400 && forged.body == #"{"detail":"Apple 验证失败: 收据数据格式错误"}"#, "\(forged.body)")
            let others = try await shop.post(
                "/subscription/restore", as: "bob", #"{"signedTransactionInfo":"\#(fresh.signed)"}"#)
            #expect(others.status == 409, "\(others.body)")
            #expect(try await shop.post("/subscription/restore", as: "bob", body("x.y.z")).status == 400)
        }
    }
}
