import Accounts
import AppStorePayloads
import Base
import Foundation
import Subscriptions
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("Answers about accounts")
struct AnswerTests {
    private static let reader = Reader(Views.reading)

    private func subscriber(
        _ status: AccountStatus = .active, days: Int64 = 30, willRenew: Bool = true,
        isForLife: Bool = false
    ) -> AccountView {
        var subscription = Views.purchase(
            "com.readmigo.pro.yearly", of: "com.readmigo", "1000000123456780", in: "Production",
            until: isForLife ? nil : Views.now.adding(days: days), status: status, willRenew: willRenew)
        if isForLife { subscription.oneTime = .nonConsumable }
        subscription.inTrial = status == .trial
        subscription.purchasedAt = Views.now.adding(days: -10)
        subscription.transactionID = "1000000123456789"
        subscription.createdAt = Views.now.adding(days: -10)
        subscription.updatedAt = Views.now.adding(days: -2)
        subscription.cancelledAt = status == .cancelled ? Views.now.adding(days: -1) : nil
        return Views.account(subscription, status: status)
    }

    @Test("of verifying have the members that StoreKit 2 clients read, in that document's order, and the account")
    func verify() throws {
        let account = subscriber(.trial)
        let value = VerifyAnswer.shape.value(of: VerifyAnswer(account.subscription, of: account), for: Self.reader)
        #expect(
            text(value).hasPrefix(
                #"{"success":true,"subscription":{"productId":"com.readmigo.pro.yearly","status":"trial","#
                    + #""isTrialPeriod":true,"expiresAt":"2024-02-09T00:00:00Z","autoRenewStatus":true,"#))
        #expect(value["account"]?["id"] == "user-42" && value["account"]?["tier"] == "pro")
        #expect(value["account"]?["appAccountToken"] == "11112222-3333-4444-8555-666677778888")
        #expect(value["account"]?["version"] == 7)
        #expect(try fault(VerifyAnswer.shape, VerifyAnswer(nil, of: account), Self.reader) == nil)
    }

    @Test(
        "of verifying say why the purchase opens nothing, in the reader's language, and nothing where it opens something"
    )
    func noAccess() throws {
        var purchase = try #require(subscriber(.active).subscription)
        func reason(_ purchase: SubscriptionView?, countsSandbox: Bool = true) throws -> String? {
            let answer = VerifyAnswer(purchase, of: subscriber(.active), countsSandbox: countsSandbox)
            #expect(try fault(VerifyAnswer.shape, answer, Self.reader) == nil)
            let value = VerifyAnswer.shape.value(of: answer, for: Self.reader)
            #expect((value["noAccessReason"] == .null) == (value["noAccessDetail"] == .null))
            return answer.noAccess?.reason.rawValue
        }
        purchase.givesAccess = true
        #expect(try reason(purchase) == nil && reason(purchase, countsSandbox: false) == nil && reason(nil) == nil)
        purchase.givesAccess = false
        #expect(try reason(purchase) == "overruled")
        purchase.status = .expired
        #expect(try reason(purchase) == "not_current")
        var inSandbox = purchase
        inSandbox.key.environment = "Sandbox"
        inSandbox.status = .active
        inSandbox.givesAccess = true
        #expect(try reason(inSandbox, countsSandbox: false) == "sandbox_not_counted" && reason(inSandbox) == nil)
    }

    @Test("of the status tell what the documents' apps read of it")
    func status() throws {
        let account = subscriber(.cancelled, days: 5, willRenew: false)
        let value = AccountShapes.status.value(of: account, for: Self.reader)
        #expect(value["hasActiveSubscription"] == true && value["subscription"]?["id"] == "pro_yearly")
        #expect(value["status"] == "cancelled" && value["tier"] == "pro" && value["planType"] == "PRO")
        #expect(value["source"] == "apple" && value["expiresAt"] == "2024-01-15T00:00:00Z")
        #expect(value["cancelledAt"] == "2024-01-09T00:00:00Z" && value["purchaseDate"] == "2023-12-31T00:00:00Z")
        #expect(value["purchaseType"] == "subscription" && value["isActive"] == true)
        #expect(value["period"] == "year" && value["transactionId"] == "1000000123456789")
        #expect(value["createdAt"] == "2023-12-31T00:00:00Z" && value["updatedAt"] == "2024-01-08T00:00:00Z")
        for name in ["period", "transactionId", "createdAt", "updatedAt", "cancelledAt"] {
            #expect(value["subscription"]?[name] == value[name], "\(name)")
        }
        #expect(value["expiringSoon"] == true && value["daysLeft"] == 5)
        #expect(try fault(AccountShapes.status, account, Self.reader) == nil)

        let nobody = Views.account(nil)
        let free = AccountShapes.status.value(of: nobody, for: Self.reader)
        #expect(free["hasActiveSubscription"] == false && free["subscription"] == .null)
        #expect(free["subscriptions"] == [] && free["status"] == "free" && free["purchaseType"] == "none")
        #expect(free["expiringSoon"] == false && free["daysLeft"] == .null)
        #expect(free["period"] == "none" && free["transactionId"] == .null)
        #expect(free["createdAt"] == .null && free["updatedAt"] == .null)
        #expect(try fault(AccountShapes.status, nobody, Self.reader) == nil)
    }

    @Test("tell how long a purchase lasts: by the catalog, and for good what was bought for good")
    func periods() {
        func period(_ change: (inout SubscriptionView) -> Void) -> JSONValue? {
            var purchase = Views.purchase(
                "com.readmigo.pro.yearly", of: "com.readmigo", "1", in: "Production", until: Views.now, status: .active,
                willRenew: true)
            change(&purchase)
            return SubscriptionShapes.api.value(of: purchase, for: Self.reader)["period"]
        }
        #expect(period { _ in } == "year")
        #expect(period { $0.productID = "unheard.of" } == "none")
        #expect(
            period {
                $0.productID = "unheard.of"
                $0.oneTime = .nonConsumable
            } == "lifetime")
        #expect(
            period {
                $0.productID = "unheard.of"
                $0.oneTime = .nonRenewing
            } == "term")
    }

    @Test("say that access ends soon where it does and will not go on by itself, by the catalog's days")
    func expiringSoon() {
        func isSoon(_ account: AccountView, _ days: Int = 7) -> Bool { account.isExpiringSoon(within: days) }
        #expect(isSoon(subscriber(.cancelled, days: 7, willRenew: false)))
        #expect(!isSoon(subscriber(.cancelled, days: 8, willRenew: false)))
        #expect(isSoon(subscriber(.cancelled, days: 8, willRenew: false), 8))
        // What renews itself does not end; where the charge failed, it may.
        #expect(!isSoon(subscriber(.active, days: 3)))
        #expect(isSoon(subscriber(.gracePeriod, days: 3)))
        #expect(!isSoon(subscriber(.expired, days: 3, willRenew: false)))
        #expect(!isSoon(subscriber(.active, willRenew: false, isForLife: true)))
        var account = subscriber(.cancelled, days: 1, willRenew: false)
        account.instant = account.instant.adding(milliseconds: 1)
        #expect(account.daysLeft == 1)
        account.instant = account.instant.adding(milliseconds: -2)
        #expect(account.daysLeft == 2)
    }

    @Test("show the status in the language asked for")
    func languages() {
        func shown(_ languages: [String], _ status: AccountStatus = .cancelled) -> JSONValue? {
            AccountShapes.status.value(of: subscriber(status), for: Reader(Views.reading, languages: languages))[
                "displayStatus"]
        }
        #expect(shown([]) == "Cancelled, active until it ends" && shown(["de", "en-GB"]) == shown([]))
        #expect(shown(["zh-CN", "en"]) == "已取消，到期前有效" && shown(["zh"]) == shown(["zh-Hans-CN"]))
        #expect(shown(["zh-TW"], .trialExpired) == "試用已過期")
        let all = AccountStatus.allCases.map { shown(["zh"], $0) }
        #expect(Set(all.map { $0.map(text) ?? "" }).count == AccountStatus.allCases.count)
        let named = AccountShapes.account.value(
            of: subscriber(), for: Reader(Views.reading, languages: ["zh-Hans"]))
        #expect(named["tierName"] == "专业版")
    }

    @Test("of restoring tell of each what became of it, and how many purchases are the account's")
    func restore() throws {
        let account = subscriber()
        let items: [RestoreAnswer.Item] = [
            .init(.restored, originalTransactionID: "1", productID: "a", environment: "Production"),
            .init(.known, originalTransactionID: "1"), .init(.transferred, originalTransactionID: "2"),
            .init(.otherAccount, code: "other_account", message: "Signed for another account."),
            .init(.invalid, code: "untrusted_root", message: "x"),
        ]
        let answer = RestoreAnswer(items, of: account)
        let value = RestoreAnswer.shape.value(of: answer, for: Self.reader)
        #expect(value["success"] == false && value["restored"] == 2)
        guard case .array(let told)? = value["transactions"] else {
            Issue.record("transactions are no list")
            return
        }
        #expect(
            told.map { $0["result"] } == ["restored", "known", "transferred", "other_account", "invalid"])
        #expect(told[4]["code"] == "untrusted_root" && told[0]["code"] == .null)
        // Beside all that the status says, for clients that read `subscription` of it.
        #expect(
            value["subscription"]?["productId"] == "com.readmigo.pro.yearly" && value["hasActiveSubscription"] == true)
        #expect(try fault(RestoreAnswer.shape, answer, Self.reader) == nil)
        let good = RestoreAnswer([.init(.known, originalTransactionID: "1"), .init(.noted)], of: account)
        #expect(RestoreAnswer.shape.value(of: good, for: Self.reader)["success"] == true)
    }

    @Test("of the products have what a paywall shows, and the trial only for who may start it")
    func products() throws {
        let products = ProductsAnswer(Views.reading.productsToShow(), trial: .eligible)
        let value = products.value(for: Reader(Views.reading, languages: ["zh-Hans"]))
        guard case .array(let told)? = value["products"], told.count == 2 else {
            Issue.record("there are not two products")
            return
        }
        #expect(told[0]["name"] == "专业版年度" && told[0]["price"] == 128_000 && told[0]["currency"] == "USD")
        #expect(told[0]["displayPrice"] == "$128.00" && told[0]["pricePerDay"] == 350)
        #expect(told[0]["displayPricePerDay"] == "$0.35" && told[0]["period"] == "year")
        #expect(told[0]["trial"]?["days"] == 7 && told[1]["trial"] == .null)
        #expect(told[1]["price"] == .null && told[1]["pricePerDay"] == .null && told[1]["period"] == "lifetime")
        #expect(
            told[0]["features"].map(text)
                == #"[{"feature":"ai_explain","name":null,"unit":null,"allowed":true,"isUnlimited":false,"#
                + #""limit":100,"period":"day"},"#
                + #"{"feature":"advanced_ai","name":null,"unit":null,"allowed":false,"isUnlimited":false,"#
                + #""limit":null,"period":null},"#
                + #"{"feature":"saved_words","name":null,"unit":"个","allowed":true,"isUnlimited":false,"#
                + #""limit":1000,"period":"total"}]"#)
        #expect(try fault(products) == nil)
        let refused = ProductsAnswer(products.products, trial: .refused(.used))
        let other = refused.value(for: Self.reader)
        #expect(other["trial"]?["eligible"] == false && other["trial"]?["reason"] == "trial_used")
        guard case .array(let without)? = other["products"] else { return }
        #expect(without.allSatisfy { $0["trial"] == .null })
    }

    @Test("of the products have Apple's introductory offer, and whether the account may have it, by group")
    func introductory() throws {
        func shown(_ history: IntroductoryHistory, _ languages: [String] = []) throws -> [JSONValue?] {
            let products = ProductsAnswer(
                Views.offering.productsToShow(), trial: .refused(.notOffered), introductory: history)
            let value = products.value(for: Reader(Views.offering, languages: languages))
            #expect(ProductsAnswer.schema.fault(in: try #require(try JSONDocument(value.bytes).object)) == nil)
            guard case .array(let told)? = value["products"] else { return [] }
            return told.map { $0["introductory"] }
        }
        let fresh = try shown(.init())
        #expect(
            fresh.map { $0.map(text) } == [
                #"{"type":"free_trial","duration":"P7D","displayDuration":"7 days","price":null,"displayPrice":null,"#
                    + #""eligible":true,"reason":null}"#,
                #"{"type":"pay_as_you_go","duration":"P3M","displayDuration":"3 months","price":990,"#
                    + #""displayPrice":"$0.99","eligible":true,"reason":null}"#,
                "null",
                #"{"type":"pay_up_front","duration":"P1Y","displayDuration":"1 year","price":9900,"#
                    + #""displayPrice":"$9.90","eligible":true,"reason":null}"#,
            ])
        #expect(try shown(.init(), ["zh-CN"]).map { $0?["displayDuration"] } == ["7 天", "3 个月", nil, "1 年"])
        #expect(try shown(.init(), ["zh-TW"]).map { $0?["displayDuration"] } == ["7 天", "3 個月", nil, "1 年"])
        func refused(
            taken: [SubscribedProduct] = [], running: [SubscribedProduct] = []
        ) throws -> [JSONValue?] {
            let offers = try shown(.init(taken: taken, running: running, by: Views.offering))
            #expect(offers.allSatisfy { $0?["eligible"] != true || $0?["reason"] == .null })
            return offers.map { $0?["reason"] }
        }
        let yearly = SubscribedProduct("yearly", of: Views.app)
        #expect(try refused(taken: [yearly]) == ["offer_used", "offer_used", nil, .null])
        #expect(try refused(running: [yearly]) == ["active_subscription", "active_subscription", nil, .null])
        #expect(try refused(taken: [yearly], running: [yearly]) == ["offer_used", "offer_used", nil, .null])
        // By what Apple signed, also for a product that the catalog has dropped.
        let dropped = SubscribedProduct("dropped", of: Views.app, inGroup: "22222222")
        #expect(try refused(taken: [dropped]) == [.null, .null, nil, "offer_used"])
        #expect(
            try refused(taken: [SubscribedProduct("dropped", of: Views.app)]) == [
                "offer_used", "offer_used", nil, .null,
            ])
        #expect(try refused(taken: [SubscribedProduct("yearly", of: "com.other")]) == [.null, .null, nil, .null])
        let unnamed = SubscribedProduct(nil, of: Views.app, inGroup: "33333333")
        #expect(try refused(taken: [unnamed]) == ["offer_used", "offer_used", nil, .null])
        // Where the catalog contradicts what Apple signed, both count.
        let moved = SubscribedProduct("yearly", of: Views.app, inGroup: "22222222")
        #expect(try refused(taken: [moved]) == ["offer_used", "offer_used", nil, "offer_used"])
    }

    @Test("of the products compare all tiers, those that are not sold included, feature by feature")
    func tiers() throws {
        let products = ProductsAnswer(Views.reading.productsToShow(), trial: .refused(.used))
        guard case .array(let tiers)? = products.value(for: Reader(Views.reading, languages: ["zh"]))["tiers"] else {
            Issue.record("tiers are no list")
            return
        }
        #expect(tiers.map { $0["tier"] } == ["free", "pro", "premium"])
        #expect(tiers.map { $0["name"] } == ["免费版", "专业版", "premium"])
        func column(_ feature: Int, _ member: String) -> [JSONValue?] {
            tiers.map { tier in
                guard case .array(let features)? = tier["features"], features.count == 3 else { return nil }
                return features[feature][member]
            }
        }
        // The free tier, which is not for sale, stands beside what is sold.
        #expect(column(0, "limit") == [5, 100, .null] && column(0, "isUnlimited") == [false, false, true])
        #expect(column(1, "allowed") == [false, false, true] && column(1, "isUnlimited") == [false, false, true])
        #expect(column(2, "limit") == [50, 1000, .null] && column(2, "unit") == ["个", "个", "个"])
        // A tier's features are those of its products.
        guard case .array(let sold)? = products.value(for: Self.reader)["products"],
            case .array(let compared)? = products.value(for: Self.reader)["tiers"], compared.count == 3
        else { return }
        #expect(sold.map { $0["features"] } == [compared[1]["features"], compared[2]["features"]])
        #expect(try fault(products) == nil)
    }

    @Test("of the trial tell how it stands, before, in and after it")
    func trial() throws {
        var account = Views.account(nil)
        #expect(
            text(TrialAnswers.eligibility.value(of: .eligible, for: Self.reader))
                == #"{"eligible":true,"reason":null,"trial":{"tier":"pro","tierName":"Pro","days":7,"#
                + #""products":["com.readmigo.pro.yearly"]}}"#)
        #expect(AccountShapes.trial.value(of: account, for: Self.reader)["started"] == false)
        let end = Views.now.adding(days: 4)
        account.trial = StartedTrial(tier: "pro", startedAt: Views.now.adding(days: -3), endsAt: end)
        account.state = .always(
            AccountPhase(startsAt: .distantPast, status: .trial, tier: "pro", source: .trial, expiresAt: end))
        let running = AccountShapes.trial.value(of: account, for: Self.reader)
        #expect(running["isActive"] == true && running["daysLeft"] == 4 && running["status"] == "trial")
        #expect(running["trialEndsAt"] == "2024-01-14T00:00:00Z")
        #expect(try fault(AccountShapes.trial, account, Self.reader) == nil)
        let status = AccountShapes.status.value(of: account, for: Self.reader)
        #expect(status["trialStartedAt"] == "2024-01-07T00:00:00Z" && status["subscription"] == .null)
        #expect(status["hasActiveSubscription"] == true && status["source"] == "trial")
        account.instant = account.instant.adding(days: 30)
        #expect(AccountShapes.trial.value(of: account, for: Self.reader)["daysLeft"] == 0)
    }

    @Test("of entitlements list the tiers up to the account's, and the purchases that give access")
    func entitlements() throws {
        var account = subscriber()
        account.purchases.append(Views.monthly(until: Views.now, status: .expired))
        let value = AccountShapes.entitlements.value(of: account, for: Self.reader)
        #expect(
            value["tiers"].map(text)
                == #"[{"tier":"free","name":"Free","source":"none","expiresAt":null},"#
                + #"{"tier":"pro","name":"Pro","source":"apple","expiresAt":"2024-02-09T00:00:00Z"}]"#)
        guard case .array(let products)? = value["products"] else { return }
        #expect(products.map { $0["productId"] } == ["com.readmigo.pro.yearly"])
        #expect(try fault(AccountShapes.entitlements, account, Self.reader) == nil)
    }

    @Test("of features tell what is allowed, why not, what it takes, and when counting begins anew")
    func features() throws {
        let day = UsageWindow(.day, at: Views.now, in: .gmt)
        let explain = try #require(Views.reading.feature("ai_explain"))
        let left = FeatureView(explain, in: "free", used: 3, window: day)
        #expect(
            text(FeatureAnswer.shape.value(of: left, for: Self.reader))
                == #"{"feature":"ai_explain","name":null,"unit":null,"allowed":true,"reason":null,"#
                + #""requiredTier":null,"upgradePrompt":null,"tier":"free","isUnlimited":false,"limit":5,"used":3,"remaining":2,"#
                + #""period":"day","resetsAt":"2024-01-11T00:00:00Z"}"#)
        let used = FeatureView(explain, in: "free", used: 6, window: day)
        let full = FeatureAnswer.shape.value(of: used, for: Self.reader)
        #expect(full["allowed"] == false && full["reason"] == "limitReached" && full["remaining"] == 0)
        #expect(full["requiredTier"] == "pro")
        let unlimited = FeatureAnswer.shape.value(
            of: FeatureView(explain, in: "premium", used: 900, window: day), for: Self.reader)
        #expect(unlimited["allowed"] == true && unlimited["limit"] == .null && unlimited["used"] == 900)
        #expect(unlimited["isUnlimited"] == true)
        let advanced = FeatureView(try #require(Views.reading.feature("advanced_ai")), in: "pro")
        let closed = FeatureAnswer.shape.value(of: advanced, for: Self.reader)
        #expect(closed["reason"] == "tierRequired" && closed["requiredTier"] == "premium" && closed["used"] == .null)
        let all = (tier: "pro", features: [left, advanced])
        #expect(try fault(FeatureAnswer.list, all, Self.reader) == nil)
        guard case .array(let counted)? = FeatureAnswer.usage.value(of: all, for: Self.reader)["usage"] else { return }
        #expect(counted.map { $0["feature"] } == ["ai_explain"])

        let answer = UsageAnswer(2, isNew: false, left)
        let value = UsageAnswer.shape.value(of: answer, for: Self.reader)
        #expect(value["counted"] == 2 && value["duplicate"] == true && value["remaining"] == 2)
        #expect(try fault(UsageAnswer.shape, answer, Self.reader) == nil)
        #expect(
            UsageAnswer.members(of: used, for: Self.reader).map(\.name)
                == ["feature", "reason", "requiredTier", "upgradePrompt", "limit", "used", "remaining", "resetsAt"])
    }

    @Test("have named schemas that say the same as the answers, each name once")
    func schemas() {
        let schemas: [ValueSchema] = [
            AccountShapes.account.schema, SubscriptionShapes.api.schema, AccountShapes.status.schema,
            VerifyAnswer.shape.schema, RestoreAnswer.shape.schema, ProductsAnswer.schema,
            TrialAnswers.eligibility.schema, AccountShapes.trial.schema, AccountShapes.entitlements.schema,
            FeatureAnswer.shape.schema, FeatureAnswer.list.schema, FeatureAnswer.usage.schema,
            UsageAnswer.shape.schema, EmoFlowAnswers.verify.schema,
            EmoFlowAnswers.refresh.schema, EmoFlowAnswers.restore.schema, EmoFlowAnswers.status.schema,
            EmoFlowAnswers.products.schema, ReadmigoAnswers.status.schema, ReadmigoAnswers.verify.schema,
            ReadmigoAnswers.restore.schema, ReadmigoAnswers.trial.schema, ReadmigoAnswers.usage.schema,
        ]
        var named: [String: ValueSchema] = [:]
        for schema in schemas {
            for (name, part) in schema.named {
                #expect(named[name] == nil || named[name] == part, "\(name)")
                named[name] = part
            }
        }
        #expect(named.count > schemas.count)
    }
}
