import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("An app and its account, by curl, with every program running")
struct AccountStoryTests {
    private static let monthly = "com.example.storehook.basic.monthly"
    /// Apple's stand-in, a receiver, a worker and an account API on one database.
    private struct World: Sendable {
        let site: Site
        let store: RunningAppStore
        /// What every program is told.
        let settings: [String: String]
        let api: ChildProgram

        func curl(_ account: String, at other: ChildProgram? = nil) async throws -> Curl {
            let signed = try await site.run("demo", "token", account, with: settings)
            let port = try #require((other ?? api).port)
            return Curl(
                base: "http://127.0.0.1:\(port)", token: signed.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }

        /// A customer buys.
        func buy(
            _ product: String = AccountStoryTests.monthly, token: String? = nil, in environment: String = "Production"
        ) async throws -> [String: String] {
            var body = #"{"productId":"\#(product)","environment":"\#(environment)""#
            if let token { body += #","appAccountToken":"\#(token)""# }
            let text = try await store.shop("purchases", body + "}")
            let sold = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            return sold.compactMapValues { $0 as? String }
        }
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        try await withShop { site, store, settings, _ in try await run(site, store, settings, body) }
    }

    private func run(
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String], _ body: (World) async throws -> Void
    ) async throws {
        try await site.apply(catalog: shopCatalog)
        try await site.with(["work"], settings) { _ in
            try await site.with(["serve", "--port", "0"], settings) { api in
                try await body(World(site: site, store: store, settings: settings, api: api))
                try await site.untilDone()
                let books = try await site.outbox.conservation(audit: true)
                #expect(books.isWhole && books.dead == 0, "\(books)")
            }
        }
    }

    private func signed(_ sold: [String: String]) throws -> String {
        #"{"signedTransactionInfo":"\#(try #require(sold["signedTransactionInfo"]))"}"#
    }

    @Test("buys, verifies, and has it: once, for itself alone, and only what Apple signed for this app and place")
    func verified() async throws {
        try await withWorld { world in
            let (alice, bob) = (try await world.curl("alice"), try await world.curl("bob"))
            let me = try await alice("/v1/account")
            #expect(me.status == 200 && me.text("tier") == "free", "\(me.body)")
            let bought = try await world.buy(token: me.text("appAccountToken"))
            let first = try await alice("/v1/subscriptions/verify", try signed(bought))
            #expect(first.status == 200 && first.text("subscription", "productId") == Self.monthly, "\(first.body)")
            #expect(first.text("subscription", "status") == "active" && first.text("account", "tier") == "pro")
            let again = try await alice("/v1/subscriptions/verify", try signed(bought))
            #expect(again.status == 200 && again.text("subscription", "status") == "active")
            let status = try await alice("/v1/subscriptions/status")
            #expect(status.text("tier") == "pro" && status.text("status") == "active", "\(status.body)")
            let original = try #require(bought["originalTransactionId"])
            // The same answer, and nothing twice: what came from the app is on record once, whatever Apple posts beside it.
            #expect(again.text("subscription", "expiresAt") == first.text("subscription", "expiresAt"))
            #expect(
                try await world.site.value("select count(*) from storehook.records where source = 'client'") == Int64(1)
            )
            #expect(
                try await world.site.value(
                    "select count(*) from storehook.purchase_lines where original_transaction_id = \(original)")
                    == Int64(1))
            let other = try await bob("/v1/subscriptions/verify", try signed(bought))
            #expect(other.status == 403 && other.code == "other_account", "\(other.body)")

            let unsold = try await alice(
                "/v1/subscriptions/verify", try signed(try await world.buy("com.example.storehook.news.monthly")))
            #expect(unsold.status == 400 && unsold.code == "unknown_product", "\(unsold.body)")

            // An attacker with a root of their own, and Apple's word about another app.
            let apple = try SimulatedAuthority.loadOrGenerate(
                in: URL(fileURLWithPath: try #require(world.store.announcement["privateKeyFile"]))
                    .deletingLastPathComponent().path)
            for (authority, app, code) in [
                (world.site.authority, SimulatedApp.example, "untrusted_root"),
                (apple, SimulatedApp(bundleId: "com.example.other"), "wrong_bundle"),
            ] {
                var customer = SimulatedSubscriber(app: app.in(.production), lane: 9, seed: 9)
                customer.buy(.basicMonthly, at: Milliseconds(Date().timeIntervalSince1970 * 1000) - 60_000)
                let json = customer.takeNotifications()[0].transaction?.json ?? []
                let answer = try await alice(
                    "/v1/subscriptions/verify", #"{"signedTransactionInfo":"\#(authority.sign(json))"}"#)
                #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            }

            let sandbox = try await bob(
                "/v1/subscriptions/verify", try signed(try await world.buy(in: "Sandbox")))
            #expect(sandbox.text("subscription", "environment") == "Sandbox", "\(sandbox.body)")
            #expect(sandbox.text("account", "tier") == "free")
            #expect(sandbox.text("noAccessReason") == "sandbox_not_counted", "\(sandbox.body)")
            #expect(sandbox.text("noAccessDetail").contains("STOREHOOK_SANDBOX_ACCESS=all"))
            #expect(first.body.contains(#""noAccessReason":null"#), "\(first.body)")
            #expect(try await bob("/v1/subscriptions/status?environment=Production").text("tier") == "free")
            #expect(try await bob("/v1/subscriptions/status?environment=Sandbox").status == 403)
        }
    }

    @Test("has an unclaimed purchase that it proves first; under transfer it moves, on record")
    func unclaimed() async throws {
        try await withWorld { world in
            let (alice, bob) = (try await world.curl("alice"), try await world.curl("bob"))
            let bought = try await world.buy()
            #expect(try await alice("/v1/subscriptions/verify", try signed(bought)).status == 200)
            let second = try await bob("/v1/subscriptions/verify", try signed(bought))
            #expect(second.status == 409 && second.code == "bound_elsewhere", "\(second.body)")
            let settings = world.settings.merging(["STOREHOOK_RESTORE": "transfer"]) { $1 }
            try await world.site.with(["serve", "--port", "0"], settings) { moving in
                let bobThere = try await world.curl("bob", at: moving)
                let moved = try await bobThere("/v1/subscriptions/verify", try signed(bought))
                #expect(moved.status == 200 && moved.text("account", "tier") == "pro", "\(moved.body)")
            }
            #expect(try await bob("/v1/subscriptions/status").text("tier") == "pro")
            #expect(try await alice("/v1/subscriptions/status").text("tier") == "free")
            let original = try #require(bought["originalTransactionId"])
            let record: String = try await world.site.value(
                """
                select string_agg(b.kind || ' ' || a.account, ', ' order by b.id)
                  from storehook.purchase_bindings b join storehook.accounts a using (token)
                 where b.original_transaction_id = \(original)
                """)
            #expect(record == "proof alice, transfer bob")
        }
    }

    @Test("restores five transactions, each with its fate")
    func restored() async throws {
        try await withWorld { world in
            let (alice, bob) = (try await world.curl("alice"), try await world.curl("bob"))
            let (mine, known, bobs) = (try await world.buy(), try await world.buy(), try await world.buy())
            let carols = try await world.buy(
                token: try await world.curl("carol")("/v1/account").text("appAccountToken"))
            #expect(try await alice("/v1/subscriptions/verify", try signed(known)).status == 200)
            #expect(try await bob("/v1/subscriptions/verify", try signed(bobs)).status == 200)
            let texts = [mine, known, bobs, carols].compactMap { $0["signedTransactionInfo"] } + ["x.y.z"]
            let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
            let answer = try await alice("/v1/subscriptions/restore", #"{"signedTransactions":[\#(list)]}"#)
            let fates = (answer.object["transactions"] as? [[String: Any]])?.map { $0["result"] as? String ?? "-" }
            #expect(answer.status == 200, "\(answer.body)")
            #expect(fates == ["restored", "known", "bound_elsewhere", "other_account", "invalid"], "\(answer.body)")
            #expect(answer.text("restored") == "2")
        }
    }

    @Test("learns by a refresh what a lost notification would have told")
    func refreshed() async throws {
        try await withWorld { world in
            let alice = try await world.curl("alice")
            let bought = try await world.buy()
            #expect(try await alice("/v1/subscriptions/verify", try signed(bought)).status == 200)
            try await world.store.shop("loss", #"{"rate":100}"#)
            let original = try #require(bought["originalTransactionId"])
            try await world.store.shop("cancellations", #"{"originalTransactionId":"\#(original)"}"#)
            #expect(try await alice("/v1/subscriptions/status").text("status") == "active")
            let answer = try await alice("/v1/subscriptions/refresh", "{}")
            #expect(answer.status == 200 && answer.text("status") == "cancelled", "\(answer.body)")
            #expect(try await alice("/v1/subscriptions/status").text("status") == "cancelled")
            try await world.store.shop("loss", #"{"rate":0}"#)
        }
    }

    @Test("hands in a receipt in either dialect, and a password that came with it stands in no log")
    func receipts() async throws {
        try await withWorld { world in
            let (alice, bob) = (try await world.curl("alice"), try await world.curl("bob"))
            let bought = try await world.buy()
            let receipt = try #require(bought["receiptData"])
            let transaction = try #require(bought["transactionId"])
            let body =
                #"{"receiptData":"\#(receipt)","productId":"\#(Self.monthly)","transactionId":"\#(transaction)"}"#
            for path in ["/v1/subscriptions/verify", "/subscriptions/verify"] {
                let answer = try await alice(path, body)
                #expect(answer.status == 200 && answer.text("account", "tier") == "pro", "\(answer.body)")
            }
            let second = try await bob(
                "/subscription/verify", #"{"receipt_data":"\#(receipt)","password":"hunter2-hunter2"}"#)
            #expect(second.status == 409 && second.body == #"{"detail":"该订阅已绑定到其他账号"}"#, "\(second.body)")
            let bobs = try #require(try await world.buy()["receiptData"])
            let emoFlow = try await bob(
                "/subscription/verify", #"{"receipt_data":"\#(bobs)","password":"hunter2-hunter2"}"#)
            #expect(emoFlow.status == 200 && emoFlow.text("message") == "订阅验证成功", "\(emoFlow.body)")
            #expect(emoFlow.text("subscription", "status") == "active")
            let wrong = try await bob("/subscription/verify", #"{"receipt_data":"bm90aGluZw=="}"#)
            #expect(wrong.status == 400 && wrong.body == #"{"detail":"Apple 验证失败: 收据数据格式错误"}"#)
            try await eventually("it is in the log") { world.api.errors.contains(#""receipt":"signature""#) }
            let log = world.api.errors
            #expect(!log.contains("hunter2") && !log.contains(receipt.prefix(60)) && !log.contains(alice.token))
        }
    }
}
