import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("Apple's introductory offer")
struct IntroductoryOfferTests {
    private static let day: Milliseconds = 86_400_000

    /// The present that accounts are read at.
    private final class Present: Sendable {
        /// The story's first day, so long ago that all of it is over for Apple's records.
        let start: Milliseconds
        private let instant: Mutex<Milliseconds>

        init() {
            start = wallClock().millisecondsSince1970 / 1000 * 1000 - 120 * IntroductoryOfferTests.day
            instant = Mutex(start)
        }

        var now: Timestamp { Timestamp(millisecondsSince1970: instant.withLock { $0 }) }

        func day(_ number: Int64) -> Milliseconds { start + number * IntroductoryOfferTests.day }

        func move(to day: Int64) { instant.withLock { $0 = self.day(day) } }

        /// A day as answers write it.
        func text(_ day: Int64) -> String { Timestamp(millisecondsSince1970: self.day(day)).description }
    }

    /// A product's offer in words: `free_trial P7D yes`, `free_trial P7D no: offer_used`; nil where it has none.
    private func offers(_ shop: Shop, _ account: String) async throws -> [String?] {
        let answer = try await shop.get("/v1/products", as: account)
        #expect(answer.status == 200, "\(answer.body)")
        return answer.object?.objects("products")?.map { product in
            product.object("introductory").map { offer in
                let reason = offer.string("reason")
                #expect(offer.bool("eligible") == (reason == nil))
                return [offer.string("type"), offer.string("duration"), reason.map { "no: \($0)" } ?? "yes"]
                    .compactMap(\.self).joined(separator: " ")
            }
        } ?? []
    }

    /// Hands in what a customer's device holds of all that has happened since.
    private func handIn(_ shop: Shop, _ customer: inout SimulatedSubscriber, as account: String) async throws {
        for notification in customer.takeNotifications() {
            let transaction = shop.authority.sign(notification.transaction?.json ?? [])
            var body = #"{"signedTransactionInfo":"\#(transaction)""#
            if let renewal = notification.renewal {
                body += #","signedRenewalInfo":"\#(shop.authority.sign(renewal.json))""#
            }
            let answer = try await shop.post("/v1/subscriptions/verify", as: account, body + "}")
            #expect(answer.status == 200, "\(answer.body)")
        }
    }

    /// The three tiers of deploy/catalogs, sold in the simulator's app.
    private static func threeTiers() throws -> String {
        try String(
            contentsOf: packageRoot.appending(path: "deploy/catalogs/tiers-and-limits.yaml"), encoding: .utf8
        ).replacing("app: com.readmigo.app", with: "app: \(SimulatedApp.example.bundleId)")
    }

    @Test("of seven days is offered on the paywall, taken, converted, refunded, and not offered again")
    func story() async throws {
        let present = Present()
        let free = "free_trial P7D yes"
        let used = "free_trial P7D no: offer_used"
        var yearly = SimulatedProduct.premiumYearly
        yearly.id = "com.readmigo.pro.yearly"
        var customer = SimulatedSubscriber(
            app: .example.in(.production), appAccountToken: AccountToken.of("anna").description, lane: 71, seed: 71)
        try await Shop.open(catalog: Self.threeTiers(), now: { present.now }) { shop in
            func status(_ path: String = "/v1/subscriptions/status") async throws -> JSONObject {
                try #require(try await shop.get(path, as: "anna").object)
            }
            /// The words of the account in the three ways of speaking.
            func words() async throws -> [String?] {
                [
                    try await status().string("status"),
                    try await status("/subscriptions/status").string("status"),
                    try await status("/subscription/status").object("subscription")?.string("subscription_status"),
                    try await status().string("tier"),
                ]
            }
            /// Why the app's own trial may not be started.
            func ownTrial() async throws -> String? {
                try await status("/v1/subscriptions/trial/eligibility").string("reason")
            }

            // Offered: Apple's with both yearly products, the app's own beside it.
            #expect(try await offers(shop, "anna") == [nil, free, nil, free])
            #expect(try await words() == ["free", "FREE", "inactive", "free"])
            #expect(try await ownTrial() == nil)
            let paywall = try #require(try await shop.get("/v1/products", as: "anna").object)
            #expect(paywall.objects("tiers")?.map { $0.string("tier") } == ["free", "pro", "premium"])
            #expect(
                paywall.objects("tiers")?.map { $0.objects("features")?.last?.string("feature") }
                    == ["books_read", "books_read", "books_read"])

            // Taken: a trial by Apple, and none of the app's own.
            let line = customer.buy(yearly, offer: .freeWeek, at: present.start)
            present.move(to: 1)
            try await handIn(shop, &customer, as: "anna")
            #expect(try await words() == ["trial", "TRIAL", "active", "pro"])
            let trying = try await status()
            #expect(trying.object("subscription")?.bool("isTrialPeriod") == true && trying.bool("isActive") == true)
            #expect(trying.string("source") == "apple" && trying.string("trialStartedAt") == present.text(0))
            #expect(trying.string("trialEndsAt") == present.text(7) && trying.string("periodEndsAt") == present.text(7))
            #expect(trying.bool("willRenew") == true && trying.bool("expiringSoon") == false)
            #expect(try await offers(shop, "anna") == [nil, used, nil, used])
            #expect(try await ownTrial() == "active_subscription")
            #expect(try await status("/v1/subscriptions/trial/status").bool("started") == false)

            // Converted: paid for, the trial is history.
            customer.renew(line)
            present.move(to: 8)
            try await handIn(shop, &customer, as: "anna")
            #expect(try await words() == ["active", "ACTIVE", "active", "pro"])
            let paying = try await status()
            #expect(paying.object("subscription")?.bool("isTrialPeriod") == false)
            #expect(
                paying.string("trialEndsAt") == present.text(7) && paying.string("periodEndsAt") == present.text(372))
            #expect(try await offers(shop, "anna") == [nil, used, nil, used])

            // Refunded: nothing is left, and it was used all the same.
            customer.refund(.period(line, 1), at: present.day(20))
            present.move(to: 21)
            try await handIn(shop, &customer, as: "anna")
            #expect(try await words() == ["revoked", "REVOKED", "expired", "free"])
            #expect(try await offers(shop, "anna") == [nil, used, nil, used])
            #expect(try await ownTrial() == "paid_before")
            #expect(try await status("/v1/subscriptions/trial/status").bool("started") == false)

            // Not offered again, whatever is bought later and however long ago it was.
            customer.resubscribe(line, at: present.day(60))
            present.move(to: 61)
            try await handIn(shop, &customer, as: "anna")
            #expect(try await words() == ["active", "ACTIVE", "active", "pro"])
            #expect(try await status().object("subscription")?.bool("isTrialPeriod") == false)
            #expect(try await offers(shop, "anna") == [nil, used, nil, used])
            // Whose it is not, is offered it.
            #expect(try await offers(shop, "otto") == [nil, free, nil, free])
        }
    }

    @Test(
        "that is given up in its seven days stays a trial to its end, from its first day on, and is not offered again")
    func givenUp() async throws {
        let present = Present()
        try await Shop.open(catalog: Self.threeTiers(), now: { present.now }) { shop in
            var yearly = SimulatedProduct.premiumYearly
            yearly.id = "com.readmigo.premium.yearly"
            var customer = SimulatedSubscriber(
                app: .example.in(.production), appAccountToken: AccountToken.of("ines").description, lane: 72, seed: 72)
            func status() async throws -> JSONObject {
                try #require(try await shop.get("/v1/subscriptions/status", as: "ines").object)
            }
            func expectTrial(_ status: JSONObject) {
                #expect(status.string("trialStartedAt") == present.text(0), "\(status)")
                #expect(status.string("trialEndsAt") == present.text(7))
            }
            let line = customer.buy(yearly, offer: .freeWeek, at: present.start)
            customer.switchAutoRenew(line, on: false, at: present.day(2))
            present.move(to: 3)
            try await handIn(shop, &customer, as: "ines")
            let cancelled = try await status()
            #expect(cancelled.string("status") == "cancelled" && cancelled.string("tier") == "premium")
            #expect(cancelled.object("subscription")?.bool("isTrialPeriod") == true)
            #expect(cancelled.string("expiresAt") == present.text(7) && cancelled.bool("expiringSoon") == true)
            expectTrial(cancelled)
            // Who cannot decide makes more phases than are kept with the purchase.
            for turn in 0..<12 {
                customer.switchAutoRenew(
                    line, on: turn % 2 == 0, at: present.day(3) + Milliseconds(turn + 1) * 3_600_000)
            }
            present.move(to: 6)
            try await handIn(shop, &customer, as: "ines")
            #expect(try await status().string("status") == "cancelled")
            expectTrial(try await status())
            customer.expire(line)
            present.move(to: 8)
            try await handIn(shop, &customer, as: "ines")
            let over = try await status()
            #expect(over.string("status") == "trial_expired" && over.string("tier") == "free")
            #expect(over.string("trialEndsAt") == present.text(7))
            #expect(
                try await offers(shop, "ines")
                    == [nil, "free_trial P7D no: offer_used", nil, "free_trial P7D no: offer_used"])
        }
    }

    /// Two groups of the simulator's products, each with offers.
    private static let groups = """
        app: com.example.storehook
        currency: USD
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: basic, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, group: 21752814,
             introductory: {type: free_trial, duration: 1 week}}
          - {id: premium, product_id: com.example.storehook.premium.monthly, tier: pro, period: month, group: 21752814,
             introductory: {type: pay_up_front, duration: 3 months, price: 14.99}}
          - {id: news, product_id: com.example.storehook.news.monthly, tier: pro, period: month, group: 21752815,
             introductory: {type: pay_as_you_go, duration: 2 months, price: 0.99}}
        """

    private static let all = ["free_trial P1W yes", "pay_up_front P3M yes", "pay_as_you_go P2M yes"]

    private static func refused(_ reason: String) -> [String] {
        ["free_trial P1W no: \(reason)", "pay_up_front P3M no: \(reason)", "pay_as_you_go P2M yes"]
    }

    @Test(
        "is used up in its group by any period that had one, refunded at once too, and by nothing that others pay for")
    func groups() async throws {
        let present = Present()
        try await Shop.open(catalog: Self.groups, now: { present.now }) { shop in
            /// A customer who is the account's.
            func customer(_ account: String, _ lane: Int, _ app: SimulatedApp = .example.in(.production))
                -> SimulatedSubscriber
            {
                SimulatedSubscriber(
                    app: app, appAccountToken: AccountToken.of(account).description, lane: lane, seed: UInt64(lane))
            }
            // Paid up front, which is no trial, and refunded the next day.
            var ada = customer("ada", 81)
            let line = ada.buy(.premiumMonthly, offer: .quarterUpFront, at: present.start)
            ada.refund(.period(line, 0), at: present.day(1))
            present.move(to: 2)
            try await handIn(shop, &ada, as: "ada")
            #expect(try await shop.standing(of: "ada") == "free revoked")
            #expect(try await offers(shop, "ada") == Self.refused("offer_used"))

            // An offer of another kind is none of these, and who has it subscribes.
            var bea = customer("bea", 82)
            let code = bea.buy(.basicMonthly, offer: .codeFreeMonth, at: present.start)
            bea.switchAutoRenew(code, on: false, at: present.day(1))
            try await handIn(shop, &bea, as: "bea")
            #expect(try await offers(shop, "bea") == Self.refused("active_subscription"))
            present.move(to: 40)
            bea.expire(code)
            try await handIn(shop, &bea, as: "bea")
            #expect(try await shop.standing(of: "bea") == "free expired")
            #expect(try await offers(shop, "bea") == Self.all)
            // She comes back with the introductory offer, on the same line.
            bea.resubscribe(code, offer: .freeWeek, at: present.day(41))
            present.move(to: 42)
            try await handIn(shop, &bea, as: "bea")
            #expect(try await shop.standing(of: "bea") == "pro trial")
            #expect(try await offers(shop, "bea") == Self.refused("offer_used"))

            // What a member of the family bought, with an offer.
            var cleo = customer("cleo", 83)
            cleo.buy(.basicMonthly, offer: .freeWeek, ownership: .familyShared, at: present.day(40))
            try await handIn(shop, &cleo, as: "cleo")
            #expect(try await shop.standing(of: "cleo") == "pro trial")
            #expect(try await offers(shop, "cleo") == Self.all)

            // What was tried in Sandbox.
            var dora = customer("dora", 84, .example.in(.sandbox))
            dora.buy(.basicMonthly, offer: .freeWeek, at: present.day(40))
            try await handIn(shop, &dora, as: "dora")
            #expect(try await offers(shop, "dora") == Self.all)

            // In the other group.
            var eva = customer("eva", 85)
            eva.buy(.newsMonthly, offer: .freeWeek, at: present.day(40))
            try await handIn(shop, &eva, as: "eva")
            #expect(
                try await offers(shop, "eva") == Self.all.dropLast() + ["pay_as_you_go P2M no: offer_used"])
        }
    }

    @Test(
        "is refused in the group that Apple signed, also while a subscription runs whose product the catalog has dropped"
    )
    func dropped() async throws {
        let present = Present()
        try await Shop.open(catalog: Self.groups, now: { present.now }) { shop in
            var fay = SimulatedSubscriber(
                app: .example.in(.production), appAccountToken: AccountToken.of("fay").description, lane: 86, seed: 86)
            fay.buy(.basicMonthly, at: present.start)
            present.move(to: 1)
            try await handIn(shop, &fay, as: "fay")
            #expect(try await offers(shop, "fay") == Self.refused("active_subscription"))
            let rest = Self.groups.split(separator: "\n").filter {
                !$0.contains("id: basic") && !$0.contains("1 week")
            }
            _ = try await shop.accounts.apply(rest.joined(separator: "\n"), by: "test")
            #expect(
                try await offers(shop, "fay") == ["pay_up_front P3M no: active_subscription", "pay_as_you_go P2M yes"])
        }
    }

    @Test("is looked up by one statement for an account with a subscription, and by none for all others")
    func statements() async throws {
        let heard = Mutex<[UInt8]>([])
        /// How often since the last time the answer to that question was described, by a column of its own.
        @Sendable func asked() -> Int {
            let column = Array("introductory_group\0".utf8)
            let bytes = heard.withLock { bytes in
                defer { bytes = [] }
                return bytes
            }
            return bytes.indices.filter { bytes[$0...].starts(with: column) }.count
        }
        let made = Mutex<DatabaseProxy?>(nil)
        defer { made.withLock { $0?.refuse() } }
        try await Shop.open(
            catalog: Self.groups,
            url: { database in
                let proxy = try await DatabaseProxy(to: database) { bytes in heard.withLock { $0 += bytes } }
                made.withLock { $0 = proxy }
                return proxy.url
            }
        ) { shop in
            #expect(try await shop.verify(shop.buy(lane: 91, for: "anna").transaction, as: "anna").status == 200)
            _ = asked()
            #expect(try await offers(shop, "otto") == Self.all)
            #expect(asked() == 0)
            #expect(try await offers(shop, "anna") == Self.refused("active_subscription"))
            #expect(asked() == 1)
            // A catalog without such offers has nothing to ask for.
            let plain = Self.groups.replacing(/,\n *introductory: \{[^}]*\}/, with: "")
            _ = try await shop.accounts.apply(plain, by: "test")
            #expect(try await offers(shop, "anna") == [nil, nil, nil])
            #expect(asked() == 0)
        }
    }
}
