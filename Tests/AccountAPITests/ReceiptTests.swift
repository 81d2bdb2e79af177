import AccountAPI
import AppStoreAccess
import AppStorePayloads
import AppStoreServerAPI
import Foundation
import Outbox
import Postgres
import Simulator
import StandIn
import StandInSupport
import Synchronization
import TestSupport
import Testing

@Suite("A receipt handed in to the account API")
struct ReceiptTests {
    private static let monthly = "com.example.storehook.basic.monthly"
    private static let lifetime = "com.example.storehook.lifetime.unlock"

    /// Somebody who bought something at the stand-in, as their device knows it.
    private struct Bought {
        var customer: String
        var original: String
        var transaction: String
        var signed: String
        var receipt: String
    }

    /// Runs a stand-in whose day was yesterday, and an account API that asks it.
    private func withShop(
        key: Bool = true, secret: Bool = false, rule: String = "keep",
        _ body: @escaping @Sendable (Shop, RunningStandIn) async throws -> Void
    ) async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
            let apple = ShopsApple(
                server: key ? standIn.client : nil, receipts: secret ? standIn.receipts : nil)
            try await Shop.open(signedBy: standIn.access.authority, asking: apple) { shop in
                try await body(shop, standIn)
            }
        }
    }

    private func buy(
        _ standIn: RunningStandIn, _ product: String = ReceiptTests.monthly, for account: String? = nil,
        customer: String? = nil, in environment: String = "Production"
    ) async throws -> Bought {
        var body = #"{"productId":"\#(product)","environment":"\#(environment)""#
        if let account {
            body += #","appAccountToken":"\#(Caller(account: account, isServer: false).token)""#
        }
        if let customer { body += #","customer":"\#(customer)""# }
        let sold = try await standIn.shop("purchases", body + "}")
        return Bought(
            customer: try #require(sold.string("customer")),
            original: try #require(sold.string("originalTransactionId")),
            transaction: try #require(sold.string("transactionId")),
            signed: try #require(sold.string("signedTransactionInfo")),
            receipt: try #require(sold.string("receiptData")))
    }

    private func verify(_ shop: Shop, _ receipt: String, as account: String, _ more: String = "") async throws -> Answer
    {
        try await shop.post(
            "/v1/subscriptions/verify", as: account, #"{"receiptData":"\#(receipt)"\#(more)}"#)
    }

    private func books(_ shop: Shop) async throws -> Conservation {
        try await Outbox(shop.api.observer).conservation(audit: true)
    }

    private func count(_ shop: Shop, _ query: PostgresQuery) async throws -> Int64 {
        try await shop.api.observer.query(query).one().decode(0)
    }

    @Test(
        "proves its purchases; what Apple signs of them is applied before the answer, and the same again changes nothing"
    )
    func withKey() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            let first = try await verify(shop, bought.receipt, as: "alice")
            #expect(first.status == 200, "\(first.body)")
            let subscription = try #require(first.object?.object("subscription"))
            #expect(subscription.string("productId") == Self.monthly && subscription.string("status") == "active")
            #expect(subscription.bool("autoRenewStatus") == true)
            #expect(first.object?.object("account")?.string("tier") == "pro")
            #expect(try await shop.standing(of: "alice") == "pro active")
            let before = try await books(shop)
            #expect(before.isWhole && before.pending == 0 && before.parked == 1 && before.applied >= 2)
            #expect(try await verify(shop, bought.receipt, as: "alice").body == first.body)
            #expect(try await books(shop).received == before.received)
            #expect(try await count(shop, "select count(*) from storehook.purchase_bindings") == 1)
            // The first who proves it has it; the second is told so.
            let second = try await verify(shop, bought.receipt, as: "bob")
            #expect(second.status == 409 && second.code == "bound_elsewhere")
            let signed = try await buy(standIn, for: "carol")
            let other = try await verify(shop, signed.receipt, as: "bob")
            #expect(other.status == 403 && other.code == "other_account", "\(other.body)")
            #expect(try await verify(shop, signed.receipt, as: "carol").status == 200)
            #expect(try await shop.standing(of: "bob") == "free free")
        }
    }

    @Test("is kept once, however the container around what is signed is written, and whoever hands it in")
    func variants() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            let receipt = SimulatedReceipt(attributes: [
                .text(0, "Production"), .text(2, SimulatedApp.example.bundleId), .date(12, shop.now - 30_000),
                .purchase([
                    .text(1702, Self.monthly), .text(1703, bought.transaction), .text(1705, bought.original),
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
            let first = try await verify(shop, texts[0], as: "alice")
            #expect(first.status == 200, "\(first.body)")
            let before = try await books(shop)
            #expect(before.isWhole && before.parked == 1)
            for (number, text) in texts.enumerated() {
                #expect(try await verify(shop, text, as: "alice\(number)").status == 409)
            }
            for text in texts.prefix(9) { #expect(try await verify(shop, text, as: "alice").status == 200) }
            #expect(try await books(shop).received == before.received)
            // Another receipt of the same purchase is another.
            var later = receipt
            later.attributes[2] = .date(12, shop.now - 20_000)
            let other = String(decoding: Base64.standard.encode(try signer.sign(later)), as: UTF8.self)
            #expect(try await verify(shop, other, as: "bob").status == 409)
            let after = try await books(shop)
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
                "transaction_id":"77","original_transaction_id":"77","product_id":"\(Self.lifetime)",\
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
                #expect(try await verify(shop, receipt(""), as: "alice").status == 200)
                let before = try await books(shop)
                #expect(before.isWhole && before.parked == 2)
                for more in [" ", #""pod" = "1";"#, #""x" = "\#(String(repeating: "y", count: 1000))";"#] {
                    #expect(try await verify(shop, receipt(more), as: "alice").status == 200)
                }
                #expect(asked.value == 4)
                #expect(try await books(shop).received == before.received)
            }
            await transport.shutdown()
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    @Test("has to be of what is said beside it, in either spelling; otherwise nothing is kept and nothing bound")
    func mismatched() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            for more in [
                #","productId":"something.else""#, #","transactionId":"1""#,
                #","product_id":"something.else""#,
                #","productId":"\#(Self.lifetime)","transactionId":"\#(bought.transaction)""#,
            ] {
                let answer = try await verify(shop, bought.receipt, as: "alice", more)
                #expect(answer.status == 400 && answer.code == "mismatched_request", "\(more) \(answer.body)")
            }
            let wrong = #"{"signedTransactionInfo":"\#(bought.signed)","transactionId":"1"}"#
            #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", wrong).code == "mismatched_request")
            #expect(try await books(shop).received == 0)
            #expect(try await count(shop, "select count(*) from storehook.purchase_bindings") == 0)
            let right = #","productId":"\#(Self.monthly)","transactionId":"\#(bought.transaction)""#
            #expect(try await verify(shop, bought.receipt, as: "alice", right).status == 200)
            let empty = try await verify(shop, "", as: "alice")
            #expect(empty.status == 400 && empty.code == "invalid_request")
        }
    }

    @Test("that nobody vouches for proves nothing: Apple is not asked, nothing is kept, and nobody has anything by it")
    func unproven() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            var customer = SimulatedSubscriber(app: .example.in(.production), lane: 40, seed: 40)
            customer.buy(.basicMonthly, at: shop.now)
            var receipt = SimulatedReceipt(
                of: customer.allItems.map { customer[$0] }, app: .example.in(.production), at: shop.now)
            // Somebody else's purchase, whose id anybody may have seen.
            receipt.attributes.insert(
                .purchase([.text(1702, Self.monthly), .text(1703, bought.transaction), .text(1705, bought.original)]),
                at: 0)
            let forged = try ReceiptSigner(SimulatedAuthority.generate().chain).sign(receipt)
            let text = String(decoding: Base64.standard.encode(forged), as: UTF8.self)
            let answer = try await verify(shop, text, as: "mallory")
            #expect(answer.status == 400 && answer.code == "untrusted_root", "\(answer.body)")
            for junk in ["junk", "e30=", String(repeating: "A", count: 100_000)] {
                let answer = try await verify(shop, junk, as: "mallory")
                #expect(answer.status == 400 && answer.code == "malformed", "\(answer.body)")
                let restored = try await shop.post(
                    "/subscriptions/restore", as: "mallory", #"{"receiptData":"\#(junk)"}"#)
                #expect(restored.status == 400 && restored.code == "malformed", "\(restored.body)")
            }
            #expect(try await books(shop).received == 0)
            #expect(try await shop.standing(of: "mallory") == "free free")
        }
    }

    @Test(
        "is proven by verifyReceipt where a shared secret is all there is, and what that says counts at once, and once")
    func withSecret() async throws {
        try await withShop(key: false, secret: true) { shop, standIn in
            let bought = try await buy(standIn)
            // EmoFlow's own request, word for word.
            let body =
                #"{"receipt_data":"\#(bought.receipt)","password":"not-a-secret-of-ours","product_id":"\#(Self.monthly)","transaction_id":"\#(bought.transaction)"}"#
            let first = try await shop.post("/subscription/verify", as: "alice", body)
            #expect(
                first.status == 200
                    && first.body.hasPrefix(
                        #"{"status":"success","message":"订阅验证成功","subscription":{"status":"active","#),
                "\(first.body)")
            #expect(first.object?.object("subscription")?.string("product_id") == Self.monthly)
            #expect(first.object?.object("subscription")?.bool("is_member") == true)
            let before = try await books(shop)
            #expect(before.isWhole && before.pending == 0 && before.parked == 2 && before.applied == 2)
            #expect(try await count(shop, "select count(*) from storehook.purchase_facts where is_unsigned") == 2)
            #expect(try await shop.post("/subscription/verify", as: "alice", body).body == first.body)
            #expect(try await books(shop).received == before.received)
            // What has changed is news.
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(bought.original)"}"#)
            let restored = try await shop.post(
                "/subscription/restore", as: "alice", #"{"receipt_data":"\#(bought.receipt)"}"#)
            #expect(restored.object?.string("message") == "恢复购买成功", "\(restored.body)")
            #expect(restored.object?.object("subscription")?.string("status") == "cancelled")
            #expect(try await books(shop).isWhole)
            // There is no key to refresh with.
            #expect(try await shop.post("/v1/subscriptions/refresh", as: "alice").code == "no_apple_key")
            // Another's.
            let other = try await shop.post(
                "/subscription/restore", as: "bob", #"{"receipt_data":"\#(bought.receipt)"}"#)
            #expect(other.status == 409 && other.body == #"{"detail":"该订阅已绑定到其他账号"}"#)
        }
    }

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
                    let own = try await verify(shop, receipt, as: "own\(number)")
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
                #expect(try await books(shop).received == 0)
            }
            await transport.shutdown()
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    @Test("is answered 503 while Apple is away, and nothing is kept; whoever hands in too many waits")
    func away() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            try await standIn.shop(
                "errors", #"{"path":"/inApps/","code":503,"count":100}"#)
            let answer = try await verify(shop, bought.receipt, as: "alice")
            #expect(answer.status == 503 && answer.code == "apple_unavailable", "\(answer.body)")
            #expect(answer.header("Retry-After") != nil)
            #expect(try await books(shop).received == 0)
            #expect(try await shop.standing(of: "alice") == "free free")
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(try await verify(shop, "junk", as: "eve").status) }
            #expect(statuses == Array(repeating: 400, count: 10) + [429, 429])
        }
    }

    @Test(
        "of a purchase that is known as far as it tells is answered while Apple is away, and one that tells more is not"
    )
    func awayAndKnown() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn)
            let other = try await buy(standIn, Self.lifetime, customer: bought.customer)
            #expect(try await shop.verify(bought.signed, as: "alice").status == 200)
            try await standIn.shop("errors", #"{"path":"/inApps/","code":503,"count":1000}"#)
            let known = try await verify(shop, bought.receipt, as: "alice")
            #expect(known.status == 200, "\(known.body)")
            #expect(known.object?.object("account")?.string("tier") == "pro")
            #expect(try await verify(shop, bought.receipt, as: "bob").code == "bound_elsewhere")
            // A worker asks for the rest.
            #expect(try await count(shop, "select count(*) from storehook.refresh_queue") > 0)
            // The other receipt lists one that nobody here knows.
            let restored = try await shop.post(
                "/subscriptions/restore", as: "alice", #"{"receiptData":"\#(other.receipt)"}"#)
            let fates = restored.object?.objects("transactions")?.map {
                "\($0.string("originalTransactionId") ?? "") \($0.string("result") ?? "")"
            }
            #expect(
                Set(fates ?? []) == ["\(bought.original) known", "\(other.original) undecided"], "\(restored.body)")
            let meant = try await verify(
                shop, other.receipt, as: "alice", #","transactionId":"\#(other.transaction)""#)
            #expect(meant.status == 503 && meant.code == "apple_unavailable", "\(meant.body)")
            // What is bound is told, and a refresh, which is a question to Apple, is not answered without it.
            let nothing = try await shop.post("/v1/subscriptions/restore", as: "alice")
            #expect(nothing.status == 200 && nothing.object?.string("tier") == "pro", "\(nothing.body)")
            #expect(try await shop.post("/v1/subscriptions/refresh", as: "alice").code == "apple_unavailable")
        }
    }

    @Test("that tells of a later period than is known has to wait for Apple")
    func awayAndRenewed() async throws {
        try await withShop { shop, standIn in
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
            #expect(try await verify(shop, try receipt(), as: "alice").status == 200)
            customer.renew(line)
            let renewed = try await verify(shop, try receipt(), as: "alice")
            #expect(renewed.status == 503 && renewed.code == "apple_unavailable", "\(renewed.body)")
        }
    }

    @Test("of a purchase so fresh that Apple does not know it yet has to wait; of an old one it is Apple's last word")
    func fresh() async throws {
        try await withShop { shop, standIn in
            func receipt(lane: Int, boughtAt instant: Milliseconds) throws -> String {
                var customer = SimulatedSubscriber(app: .example.in(.production), lane: lane, seed: UInt64(lane))
                customer.buy(.basicMonthly, at: instant)
                let bytes = try ReceiptSigner(standIn.access.authority.chain).sign(
                    SimulatedReceipt(
                        of: customer.allItems.map { customer[$0] }, app: .example.in(.production), at: shop.now))
                return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
            }
            let fresh = try receipt(lane: 46, boughtAt: shop.now - 60_000)
            let answer = try await verify(shop, fresh, as: "alice")
            #expect(answer.status == 503 && answer.code == "apple_unavailable", "\(answer.body)")
            #expect(answer.header("Retry-After") != nil)
            #expect(try await books(shop).received == 0)
            let emo = try await shop.post("/subscription/restore", as: "alice", #"{"receipt_data":"\#(fresh)"}"#)
            #expect(emo.status == 503, "\(emo.body)")
            // Nobody asks at once, when Apple would say the same.
            #expect(
                try await count(
                    shop, "select count(*) from storehook.refresh_queue where due_at > now() + interval '30 s'") == 1)
            let old = try receipt(lane: 47, boughtAt: shop.now - 2 * 86_400_000)
            let unknown = try await verify(shop, old, as: "alice")
            #expect(unknown.status == 400 && unknown.code == "purchase_unknown", "\(unknown.body)")
            #expect(try await count(shop, "select count(*) from storehook.refresh_queue") == 1)
        }
    }

    @Test("waits for Apple with no transaction open and no connection held")
    func waiting() async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
            let held = HeldTransport(standIn.transport)
            let apple = ShopsApple(server: try standIn.client(over: held))
            try await Shop.open(signedBy: standIn.access.authority, asking: apple) { shop in
                let bought = try await buy(standIn)
                // More than the API has connections, and fewer than the test's client has.
                let requests = (0..<6).map { number in
                    Task { try await verify(shop, bought.receipt, as: "account\(number)").status }
                }
                try await eventually("all wait for Apple") { held.asked >= requests.count }
                #expect(try await shop.standing(of: "carol") == "free free")
                let open = try await count(
                    shop,
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
        try await withShop { shop, standIn in
            let mine = try await buy(standIn)
            let both = try await buy(standIn, Self.lifetime, customer: mine.customer)
            let unsold = try await buy(standIn, "com.example.storehook.news.monthly", customer: mine.customer)
            #expect(try await verify(shop, mine.receipt, as: "bob").status == 200)
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
                #"{"receiptData":"\#(unsold.receipt)","productId":"\#(Self.lifetime)","transactionId":"\#(both.transaction)"}"#
            let verified = try await shop.post("/subscriptions/verify", as: "alice", readmigo)
            #expect(verified.object?.object("subscription")?.string("productId") == Self.lifetime, "\(verified.body)")
            let unknown = try await verify(
                shop, unsold.receipt, as: "alice", #","transactionId":"\#(unsold.transaction)""#)
            #expect(unknown.status == 400 && unknown.code == "unknown_product", "\(unknown.body)")
        }
    }

    @Test("that is older than the transaction beside it takes nothing from it, in either dialect")
    func stale() async throws {
        try await withShop { shop, standIn in
            let old = try await buy(standIn)
            // Somebody else's device, so that Apple, asked about the receipt, does not tell of it either.
            let fresh = try await buy(standIn, Self.lifetime)
            let said = #""transactionId":"\#(fresh.transaction)","productId":"\#(Self.lifetime)""#
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
            let other = try await buy(standIn)
            let away = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", list.replacing(old.receipt, with: other.receipt))
            #expect(
                away.object?.objects("transactions")?.map { $0.string("result") } == ["known", "undecided"],
                "\(away.body)")
        }
        try await withShop { shop, standIn in
            let old = try await buy(standIn)
            let fresh = try await buy(standIn, Self.lifetime)
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

    @Test("of Sandbox opens nothing in Production, and one that lists nothing proves nothing")
    func sandbox() async throws {
        try await withShop { shop, standIn in
            let bought = try await buy(standIn, in: "Sandbox")
            let answer = try await verify(shop, bought.receipt, as: "alice")
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.object?.object("subscription")?.string("environment") == "Sandbox")
            #expect(answer.object?.object("account")?.string("tier") == "free")
            let empty = try ReceiptSigner(standIn.access.authority.chain).sign(
                SimulatedReceipt(of: [], app: .example.in(.production), at: shop.now))
            let nothing = try await verify(
                shop, String(decoding: Base64.standard.encode(empty), as: UTF8.self), as: "bob")
            #expect(nothing.status == 400 && nothing.code == "nothing_bought", "\(nothing.body)")
        }
    }

    @Test("proves by Apple's signature whose a known purchase is where nobody can be asked; an unknown one has to wait")
    func withoutAnything() async throws {
        try await withShop(key: false) { shop, standIn in
            let bought = try await buy(standIn)
            let unknown = try await verify(shop, bought.receipt, as: "alice")
            #expect(unknown.status == 503 && unknown.code == "no_apple_key", "\(unknown.body)")
            #expect(try await shop.verify(bought.signed, as: "bob").status == 200)
            #expect(try await verify(shop, bought.receipt, as: "bob").status == 200)
            #expect(try await verify(shop, bought.receipt, as: "alice").code == "bound_elsewhere")
        }
    }
}

/// A number that a test sets and a server reads.
private final class SharedNumber: Sendable {
    private let number = Mutex(0)
    var value: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }
}
