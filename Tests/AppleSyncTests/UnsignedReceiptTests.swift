import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@testable import AppleSync

@Suite("verifyReceipt's answer, where a shared secret is all there is,")
struct UnsignedReceiptTests {
    private static let day: Int64 = 86_400_000

    /// A customer of two months, and what Apple answers about them.
    private struct Story {
        var customer: SimulatedSubscriber
        let line: SubscriptionLine.Reference
        let now = ImpatientClock().now().millisecondsSince1970

        init() {
            var customer = SimulatedSubscriber(app: Site.app, lane: 3, seed: 3)
            line = customer.buy(.premiumMonthly, at: now - 40 * UnsignedReceiptTests.day)
            customer.renew(line)
            self.customer = customer
        }

        var items: [TransactionRecord] { customer.allItems.map { customer[$0] } }
        var original: String { items[0].originalTransactionId }

        func receipt(by authority: SimulatedAuthority) throws -> [UInt8] {
            Base64.standard.encode(
                try ReceiptSigner(authority.chain).sign(
                    SimulatedReceipt(of: items, app: Site.app, at: now - 60_000)))
        }

        /// A transaction as verifyReceipt has it.
        func text(_ item: TransactionRecord, isRefunded: Bool) -> String {
            let refund = isRefunded ? #","cancellation_date_ms":"\#(now - UnsignedReceiptTests.day)""# : ""
            let end = item.expiresDate.map { #","expires_date_ms":"\#($0)""# } ?? ""
            let web = item.webOrderLineItemId.map { #","web_order_line_item_id":"\#($0)""# } ?? ""
            return """
                {"transaction_id":"\(item.transactionId)","original_transaction_id":"\(item.originalTransactionId)",\
                "product_id":"\(item.productId)","purchase_date_ms":"\(item.purchaseDate)",\
                "original_purchase_date_ms":"\(item.originalPurchaseDate)"\(end)\(web)\(refund)}
                """
        }

        /// verifyReceipt's answer, so many seconds ago.
        func answer(
            secondsAgo: Int64, refunding refunded: String? = nil, renews: Bool = true, isDated: Bool = true
        ) -> String {
            let list = items.map { text($0, isRefunded: $0.transactionId == refunded) }.joined(separator: ",")
            return """
                {"status":0,"environment":"Production","receipt":{"bundle_id":"\(Site.app.bundleId)",\
                \(isDated ? #""request_date_ms":"\#(now - secondsAgo * 1000)","# : "")"in_app":[]},"latest_receipt_info":[\(list)],\
                "pending_renewal_info":[{"original_transaction_id":"\(original)","product_id":"\(items[0].productId)",\
                "auto_renew_product_id":"\(items[0].productId)","auto_renew_status":"\(renews ? 1 : 0)"}]}
                """
        }
    }

    private func intake(_ site: Site, withKey: Bool = false) throws -> ReceiptIntake {
        let receipts = ReceiptClient(
            bundleId: Site.app.bundleId, secret: try #require(SharedSecret("hunter2")), in: [.production],
            transport: site.apple, clock: ImpatientClock(), budget: RateBudget(share: 1),
            policy: CallPolicy(maximumAttempts: 2, firstDelay: .milliseconds(1)), jitter: { 1 })
        return ReceiptIntake(
            site.verifier,
            apps: [.init(Site.app.bundleId, server: withKey ? try site.client() : nil, receipts: receipts)],
            history: site.history)
    }

    /// Hands the receipt in, and lets a worker do what there is to do.
    @discardableResult
    private func take(_ site: Site, _ story: Story, saying answer: String) async throws -> ReceiptIntake.Report {
        site.apple.answer("/verifyReceipt", with: answer)
        let report = try await intake(site).take(try story.receipt(by: site.authority), from: .client)
        try await site.workOff()
        return report
    }

    private func status(_ site: Site, _ original: String) async throws -> [String] {
        try await site.pool.query(
            """
            select status || case when will_renew then ', renews' else '' end from storehook.subscription_status
             where original_transaction_id = \(original)
            """
        ).map { try $0.decode(0) }
    }

    private func unsigned(_ site: Site) async throws -> Int64 {
        try await site.value("select count(*) from storehook.purchase_facts where is_unsigned")
    }

    @Test("makes a subscription, and a later one renews it, switches it off, refunds it, and takes the refund back")
    func life() async throws {
        try await withSite { site in
            var story = Story()
            let first = try await take(site, story, saying: story.answer(secondsAgo: 50))
            #expect(first.words == 3 && first.outboxIDs.count == 2)
            #expect(try await status(site, story.original) == ["active, renews"])
            #expect(
                try await site.value(
                    "select count(*) from storehook.transactions where is_unsigned and kind = 'Auto-Renewable Subscription'"
                ) == Int64(2))
            #expect(
                try await site.value(
                    "select paid_until > now() + interval '10 days' from storehook.subscriptions where not is_regular"))
            // The same again is no news, however often the app starts.
            for second in [40, 41] as [Int64] {
                #expect(try await take(site, story, saying: story.answer(secondsAgo: second)).words == 0)
            }
            #expect(try await unsigned(site) == 3)
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 30, renews: false)).words == 1)
            #expect(try await status(site, story.original) == ["cancelled"])
            let latest = try #require(story.items.last?.transactionId)
            let refunded = story.answer(secondsAgo: 20, refunding: latest, renews: false)
            #expect(try await take(site, story, saying: refunded).words == 1)
            #expect(try await status(site, story.original) == ["revoked"])
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 10, renews: false)).words == 1)
            #expect(try await status(site, story.original) == ["cancelled"])
            // An answer that was held up on its way was overtaken.
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 25, refunding: latest)).words == 0)
            #expect(try await status(site, story.original) == ["cancelled"])
            story.customer.renew(story.line)
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 5)).words == 2)
            #expect(try await site.value("select count(*) from storehook.transactions") == Int64(3))
            #expect(
                try await site.value("select paid_until > now() + interval '40 days' from storehook.subscriptions"))
            #expect(try await site.value("select count(*) from storehook.anomalies") == Int64(0))
            #expect(try await site.isWhole())
        }
    }

    @Test(
        "is dated by the moment of asking where it does not say when Apple looked, and makes a subscription all the same"
    )
    func undated() async throws {
        try await withSite { site in
            let story = Story()
            let before = ImpatientClock().now()
            let first = try await take(site, story, saying: story.answer(secondsAgo: 0, isDated: false))
            #expect(first.words == 3)
            #expect(try await status(site, story.original) == ["active, renews"])
            let dates: [PostgresTimestamp] = try await site.pool.query(
                "select distinct transaction_signed_at from storehook.purchase_facts where transaction_id is not null"
            ).map { try $0.decode(0) }
            #expect(dates.count == 1 && dates.allSatisfy { Timestamp($0) >= before })
            // The same again is no news, and what is new counts from when it was asked.
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 0, isDated: false)).words == 0)
            let off = try await take(site, story, saying: story.answer(secondsAgo: 0, renews: false, isDated: false))
            #expect(off.words == 1)
            #expect(try await status(site, story.original) == ["cancelled"])
            #expect(try await site.isWhole())
        }
    }

    @Test("gives way to what Apple posts about the same, and undoes nothing of it later")
    func signed() async throws {
        try await withSite { site in
            var story = Story()
            let latest = try #require(story.items.last?.transactionId)
            try await take(site, story, saying: story.answer(secondsAgo: 50, refunding: latest, renews: false))
            #expect(try await status(site, story.original) == ["revoked"])
            // What Apple signed long before that answer says otherwise.
            try await site.post(story.customer.takeNotifications().map { $0.signed(by: site.authority) })
            try await site.workOff()
            #expect(try await status(site, story.original) == ["active, renews"])
            #expect(try await site.value("select count(*) from storehook.transactions where is_unsigned") == Int64(0))
            // Nothing is stored of what is signed.
            let later = try await take(
                site, story, saying: story.answer(secondsAgo: 5, refunding: latest, renews: false))
            #expect(later.words == 0 && later.outboxIDs.count == 2)
            #expect(try await status(site, story.original) == ["active, renews"])
            // Nor would it count, were it stored.
            let item = try #require(story.items.last)
            let extract = """
                {"bundle_id":"\(Site.app.bundleId)","environment":"Production","request_date_ms":\(story.now - 4000),\
                "purchase":\(story.text(item, isRefunded: true))}
                """
            try await site.outbox.store([Evidence(.receiptTransaction, from: .api, Array(extract.utf8))])
            try await site.workOff()
            #expect(try await status(site, story.original) == ["active, renews"])
            #expect(try await site.isWhole())
        }
    }

    @Test("says what is to come of a period whose signed renewal was lost")
    func lostRenewal() async throws {
        try await withSite { site in
            var story = Story()
            // Both of Apple's posts about the first period came, and that about the second did not.
            try await site.post(story.customer.takeNotifications().prefix(1).map { $0.signed(by: site.authority) })
            try await site.workOff()
            try await take(site, story, saying: story.answer(secondsAgo: 50))
            #expect(try await status(site, story.original) == ["active, renews"])
            let off = try await take(site, story, saying: story.answer(secondsAgo: 40, renews: false))
            #expect(off.words == 1)
            #expect(try await status(site, story.original) == ["cancelled"])
            #expect(try await take(site, story, saying: story.answer(secondsAgo: 30, renews: false)).words == 0)
            // What Apple signs of the second period counts in its place as soon as it comes.
            story = Story()
            try await site.post(story.customer.takeNotifications().map { $0.signed(by: site.authority) })
            try await site.workOff()
            #expect(try await status(site, story.original) == ["active, renews"])
            #expect(try await site.isWhole())
        }
    }

    @Test("is asked for as proof alone where there is a key, and no state comes of it")
    func withKey() async throws {
        try await withSite { site in
            let story = Story()
            site.apple.answer("/verifyReceipt", with: story.answer(secondsAgo: 5))
            let forged = Base64.standard.encode(
                try ReceiptSigner(SimulatedAuthority.generate().chain).sign(
                    SimulatedReceipt(of: story.items, app: Site.app, at: story.now - 60_000)))
            // The Server API knows nothing of these purchases.
            let report = try await intake(site, withKey: true).take(forged, from: .client)
            #expect(report.proof?.name == "verify_receipt" && report.words == 0 && report.outboxIDs.count == 2)
            try await site.workOff()
            #expect(try await site.value("select count(*) from storehook.purchase_facts") == Int64(0))
            #expect(try await site.value("select count(*) from storehook.purchase_lines") == Int64(0))
        }
    }

    @Test("tells of things bought once, which only the app knows how long they last, and of their refund")
    func once() async throws {
        try await withSite { site in
            var story = Story()
            for product in [SimulatedProduct.lifetime, .coins] { story.customer.charge(product, at: story.now - 5000) }
            try await take(site, story, saying: story.answer(secondsAgo: 3))
            let kinds: PostgresQuery = """
                select product_id || ' ' || kind || ' ' || (revoked_at is not null) from storehook.one_time_purchases
                 order by product_id
                """
            #expect(
                try await site.pool.query(kinds).map { try $0.decode(0, as: String.self) } == [
                    "\(SimulatedProduct.coins.id) non_renewing false",
                    "\(SimulatedProduct.lifetime.id) non_renewing false",
                ])
            let access: PostgresQuery =
                "select bool_and(access is null) from storehook.entitlements where kind <> 'subscription'"
            #expect(try await site.value(access))
            #expect(try await site.value("select count(*) from storehook.consumable_balances") == Int64(0))
            let lifetime = try #require(story.items.first { $0.productId == SimulatedProduct.lifetime.id })
            try await take(site, story, saying: story.answer(secondsAgo: 2, refunding: lifetime.transactionId))
            #expect(
                try await site.value(
                    "select revoked_at is not null from storehook.one_time_purchases where transaction_id = \(lifetime.transactionId)"
                ))
            // Apple signs what it is.
            try await site.post(story.customer.takeNotifications().map { $0.signed(by: site.authority) })
            try await site.workOff()
            #expect(
                try await site.pool.query(kinds).map { try $0.decode(0, as: String.self) } == [
                    "\(SimulatedProduct.coins.id) consumable false",
                    "\(SimulatedProduct.lifetime.id) non_consumable false",
                ])
        }
    }
}
