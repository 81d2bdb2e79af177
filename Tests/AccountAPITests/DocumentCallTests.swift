import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Foundation
import Pipeline
import Simulation
import StandInSupport
import TestSupport
import Testing

@testable import APIKit

/// What the clients of the documents send, and what they read of the answers: each reads with the types that its document has.
///
/// The webhook paths of the documents are the receiver's.
@Suite("The calls of the documents, as their clients write them")
struct DocumentCallTests {
    /// A user as all three documents have one: a UUID.
    private static let user = "5b7f3c0e-9f51-4c38-8d52-6a2b8f0e7a11"

    // MARK: The Readmigo document, part three

    /// Its model of a subscription, and its words.
    private struct ReadmigoSubscription: Decodable {
        enum PlanType: String, Decodable {
            case free = "FREE"
            case pro = "PRO"
            case premium = "PREMIUM"
        }
        enum Status: String, Decodable {
            case active = "ACTIVE"
            case expired = "EXPIRED"
            case cancelled = "CANCELLED"
            case gracePeriod = "GRACE_PERIOD"
            case trial = "TRIAL"
            case trialExpired = "TRIAL_EXPIRED"
            case free = "FREE"
            case revoked = "REVOKED"
        }
        enum Source: String, Decodable {
            case appleIAP = "APPLE_IAP"
            case googlePlay = "GOOGLE_PLAY"
            case promoCode = "PROMO_CODE"
            case trial = "TRIAL"
            case none = "NONE"
        }

        let planType: PlanType
        let status: Status
        let source: Source
        let originalTransactionId: String?
        let expiresAt: DocumentInstant?
        let cancelledAt: DocumentInstant?
        let trialStartedAt: DocumentInstant?
        let trialEndsAt: DocumentInstant?
        let createdAt: DocumentInstant?
        let updatedAt: DocumentInstant?
    }

    private struct VerifyReceiptRequest: Encodable {
        let receiptData: String
        let productId: String
        let transactionId: String
    }

    private struct VerifyReceiptResponse: Decodable {
        let success: Bool
        let subscription: ReadmigoSubscription
    }

    private struct RestoreResponse: Decodable { let subscription: ReadmigoSubscription? }

    private struct TrialEligibility: Decodable { let eligible: Bool }

    private struct TrialStatus: Decodable {
        let planType: ReadmigoSubscription.PlanType
        let status: ReadmigoSubscription.Status
        let trialStartedAt: DocumentInstant?
        let trialEndsAt: DocumentInstant?
    }

    private struct Usage: Decodable {
        struct Feature: Decodable {
            let feature: String
            let used: Int
            let limit: Int?
        }
        let usage: [Feature]
    }

    private struct Restriction: Decodable {
        let code: String
        let reason: String
        let detail: String
        let upgradePrompt: String?
    }

    @Test("get Readmigo's shapes and words: free, in its trial, up to a limit and beyond")
    func readmigoTrial() async throws {
        try await Shop.open { shop in
            _ = try await shop.accounts.apply(Self.readmigo, by: "test")
            let client = DocumentClient(shop.api, Self.user)
            let free: ReadmigoSubscription = try await client.get("/subscriptions/status")
            #expect(free.planType == .free && free.status == .free && free.source == .none)
            let before: TrialEligibility = try await client.get("/subscriptions/trial/eligibility")
            #expect(before.eligible)
            let closed: Restriction = try await client.post("/usage/voice-chat", #"{"amount":1}"#, 403)
            #expect(closed.code == "tier_required" && closed.reason == "tierRequired")
            #expect(closed.detail == "当前套餐不包含此功能" && closed.upgradePrompt == "升级到专业版即可使用「语音对话」。")

            let started: TrialStatus = try await client.post("/subscriptions/trial/start")
            let (begins, ends) = (try #require(started.trialStartedAt), try #require(started.trialEndsAt))
            #expect(started.planType == .pro && started.status == .trial)
            #expect(ends.date.timeIntervalSince(begins.date) == 7 * 86_400)
            let running: TrialStatus = try await client.get("/subscriptions/trial/status")
            #expect(running.status == .trial && running.trialEndsAt?.date == ends.date)
            let trial: ReadmigoSubscription = try await client.get("/subscriptions/status")
            #expect(trial.planType == .pro && trial.status == .trial && trial.source == .trial)
            #expect(trial.trialStartedAt?.date == begins.date && trial.createdAt?.date == begins.date)
            #expect(trial.updatedAt != nil)
            let after: TrialEligibility = try await client.get("/subscriptions/trial/eligibility")
            #expect(!after.eligible)

            for _ in 0..<3 { try await client.send("POST", "/usage/ai", #"{"amount":1}"#, 200) }
            try await client.send("POST", "/usage/voice-chat", #"{"amount":4}"#, 200)
            let full: Restriction = try await client.post("/usage/ai", #"{"amount":1}"#, 429)
            #expect(full.code == "limit_reached" && full.reason == "limitReached")
            #expect(full.detail == "已达到当前套餐的使用上限")
            #expect(full.upgradePrompt == "「AI 单词解释」今天的3次已用完，升级到高级版可获得更多。")
            let usage: Usage = try await client.get("/usage/current")
            #expect(usage.usage.map(\.feature) == ["ai_explain", "voice_chat"])
            #expect(usage.usage.map(\.used) == [3, 4] && usage.usage.map(\.limit) == [3, 30])
        }
    }

    @Test("get Readmigo's shapes and words: a receipt verified, restored, cancelled; and what staff gave")
    func readmigoPurchase() async throws {
        try await withReceiptShop { shop, standIn in
            _ = try await shop.accounts.apply(Self.readmigo, by: "test")
            let client = DocumentClient(shop.api, Self.user)
            let bought = try await standIn.buy(for: Self.user)
            let request = VerifyReceiptRequest(
                receiptData: bought.receipt, productId: BoughtReceipt.monthly, transactionId: bought.transaction)
            let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
            let verified: VerifyReceiptResponse = try await client.post("/subscriptions/verify", body)
            let subscription = verified.subscription
            #expect(verified.success && subscription.planType == .pro)
            #expect(subscription.status == .active && subscription.source == .appleIAP)
            #expect(subscription.originalTransactionId == bought.original && subscription.expiresAt != nil)
            let (created, updated) = (try #require(subscription.createdAt), try #require(subscription.updatedAt))
            #expect(created.date <= updated.date && subscription.cancelledAt == nil)
            let status: ReadmigoSubscription = try await client.get("/subscriptions/status")
            #expect(status.planType == .pro && status.status == .active && status.source == .appleIAP)
            #expect(status.originalTransactionId == bought.original && status.createdAt?.date == created.date)
            #expect(try await client.member("purchaseType", "/subscriptions/status") == "monthly")

            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(bought.original)"}"#)
            let restored: RestoreResponse = try await client.post("/subscriptions/restore")
            #expect(restored.subscription?.status == .cancelled && restored.subscription?.cancelledAt != nil)
            let other = DocumentClient(shop.api, "0c9d2a64-15f3-4d2b-9f6e-3d1c7b8a9e42")
            let refused: Problem = try await other.post("/subscriptions/verify", body, 403)
            #expect(refused.code == "other_account" && refused.detail == "交易不属于当前用户")

            _ = try await EvidencePipeline(shop.api.observer).act(
                .grant(tier: "premium", days: 30), for: AccountIdentity(named: other.user), by: "test", why: "gift")
            let given: ReadmigoSubscription = try await other.get("/subscriptions/status")
            #expect(given.planType == .premium && given.status == .active && given.source == .promoCode)
            #expect(try await other.member("purchaseType", "/subscriptions/status") == "none")
        }
    }

    // MARK: The StoreKit 2 document, its server

    private struct SubscriptionInfo: Codable {
        let productId: String
        let status: String
        let isTrialPeriod: Bool
        let expiresAt: String?
        let autoRenewStatus: Bool
    }

    private struct SubscriptionResponse: Codable {
        let success: Bool
        let subscription: SubscriptionInfo
    }

    private struct SubscriptionStatusResponse: Codable {
        let hasActiveSubscription: Bool
        let subscription: SubscriptionInfo?
    }

    private struct Problem: Decodable {
        let code: String
        let detail: String
    }

    @Test("get the StoreKit 2 document's shapes, words and messages")
    func storeKit2() async throws {
        try await withReceiptShop { shop, standIn in
            let client = DocumentClient(shop.api, Self.user)
            let none: SubscriptionStatusResponse = try await client.get("/v1/subscriptions/status")
            #expect(!none.hasActiveSubscription && none.subscription == nil)

            let token = AccountToken.of(Self.user)
            let sold = try await standIn.shop(
                "purchases",
                #"{"productId":"\#(BoughtReceipt.monthly)","environment":"Production","appAccountToken":"\#(token)","offer":"trial"}"#
            )
            let signed = try #require(sold.string("signedTransactionInfo"))
            let body = #"{"signedTransactionInfo":"\#(signed)"}"#
            let trial: SubscriptionResponse = try await client.post("/v1/subscriptions/verify", body)
            #expect(trial.success && trial.subscription.productId == BoughtReceipt.monthly)
            #expect(trial.subscription.status == "trial" && trial.subscription.isTrialPeriod)
            #expect(ISO8601DateFormatter().date(from: try #require(trial.subscription.expiresAt)) != nil)
            let status: SubscriptionStatusResponse = try await client.get("/v1/subscriptions/status")
            #expect(status.hasActiveSubscription && status.subscription?.status == "trial")

            let original = try #require(sold.string("originalTransactionId"))
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(original)"}"#)
            try await client.send("POST", "/v1/subscriptions/refresh", nil, 200)
            let cancelled: SubscriptionStatusResponse = try await client.get("/v1/subscriptions/status")
            #expect(cancelled.subscription?.status == "cancelled" && cancelled.subscription?.autoRenewStatus == false)

            let other = DocumentClient(shop.api, "0c9d2a64-15f3-4d2b-9f6e-3d1c7b8a9e42")
            let refused: Problem = try await other.post("/v1/subscriptions/verify", body, 403)
            #expect(refused.detail == "交易不属于当前用户" && refused.code == "other_account")
            let unlisted = try await standIn.buy("com.example.storehook.news.monthly", for: other.user)
            let unknown: Problem = try await other.post(
                "/v1/subscriptions/verify", #"{"signedTransactionInfo":"\#(unlisted.signed)"}"#, 400)
            #expect(unknown.detail == "无效的产品 ID" && unknown.code == "unknown_product")
            let forged: Problem = try await other.post(
                "/v1/subscriptions/verify", #"{"signedTransactionInfo":"a.b.c"}"#, 400)
            #expect(forged.code == "malformed")
            #expect(try await shop.api.get("/v1/subscriptions/status").status == 401)
        }
    }

    // MARK: The EmoFlow document

    private struct EmoFlowAnswer: Decodable {
        struct Subscription: Decodable {
            let status: String
            let productId: String?
            let expiresAt: String?
            let autoRenew: Bool
            let environment: String
            let isMember: Bool
        }
        let status: String
        let message: String
        let subscription: Subscription
    }

    private struct EmoFlowStatus: Decodable {
        struct Subscription: Decodable {
            let subscriptionStatus: String
            let subscriptionProductId: String?
            let subscriptionExpiresAt: String?
            let autoRenewStatus: Bool
            let subscriptionEnvironment: String
            let isMember: Bool
        }
        let status: String
        let subscription: Subscription
    }

    private struct EmoFlowProducts: Decodable {
        struct Product: Decodable {
            let id, name, price, dailyPrice, period, periodDisplay, appleProductId: String
            let isPopular: Bool
            let sortOrder: Int
        }
        let status: String
        let message: String
        let products: [Product]
    }

    private struct EmoFlowProblem: Decodable { let detail: String }

    @Test("get the EmoFlow document's members and no others, its words and its messages")
    func emoFlow() async throws {
        try await withReceiptShop { shop, standIn in
            let client = DocumentClient(shop.api, "emo-user-7", isInSnakeCase: true)
            let inactive: EmoFlowStatus = try await client.get("/subscription/status")
            #expect(inactive.subscription.subscriptionStatus == "inactive" && !inactive.subscription.isMember)
            let bought = try await standIn.buy()
            let body = #"{"receipt_data":"\#(bought.receipt)","password":"your_app_shared_secret"}"#
            let verified: EmoFlowAnswer = try await client.post("/subscription/verify", body)
            #expect(verified.status == "success" && verified.message == "订阅验证成功")
            #expect(verified.subscription.status == "active" && verified.subscription.isMember)
            #expect(verified.subscription.productId == BoughtReceipt.monthly)
            #expect(verified.subscription.environment == "production" && verified.subscription.autoRenew)
            let members = ["status", "message", "subscription", "status", "product_id", "expires_at", "auto_renew"]
            #expect(
                try await client.names("POST", "/subscription/verify", body) == members + ["environment", "is_member"])
            let refreshed: EmoFlowAnswer = try await client.post("/subscription/refresh")
            #expect(refreshed.message == "订阅状态刷新成功")
            for path in ["refresh", "restore"] {
                #expect(
                    try await client.names("POST", "/subscription/\(path)", body).sorted()
                        == (members + ["environment", "is_member"]).sorted())
            }
            let restored: EmoFlowAnswer = try await client.post("/subscription/restore", body)
            #expect(restored.message == "恢复购买成功" && restored.subscription.productId == "basic")
            let status: EmoFlowStatus = try await client.get("/subscription/status")
            #expect(status.subscription.subscriptionStatus == "active" && status.subscription.autoRenewStatus)
            #expect(
                try await client.names("GET", "/subscription/status") == [
                    "status", "subscription", "subscription_status", "subscription_product_id",
                    "subscription_expires_at", "auto_renew_status", "subscription_environment", "is_member",
                ])
            let listed: EmoFlowProducts = try await client.get("/subscription/products")
            #expect(listed.status == "success" && listed.message == "获取产品列表成功")
            #expect(listed.products.map(\.period) == ["monthly", "yearly", "lifetime"])
            let product = [
                "id", "name", "price", "daily_price", "period", "period_display", "apple_product_id", "is_popular",
                "sort_order",
            ]
            #expect(
                Set(try await client.names("GET", "/subscription/products"))
                    == Set(["status", "message", "products"] + product))

            let malformed: EmoFlowProblem = try await client.post("/subscription/verify", #"{"receipt_data":"x"}"#, 400)
            #expect(malformed.detail == "Apple 验证失败: 收据数据格式错误")
            let unnamed = try await shop.api.get("/subscription/status")
            #expect(unnamed.status == 401 && unnamed.body == #"{"detail":"用户未认证"}"#)
        }
    }

    /// A catalog with the documents' tiers, features and aliases, for the products that the shop sells.
    private static let readmigo = """
        app: com.example.storehook
        language: zh-Hans
        currency: CNY
        tiers:
          - {id: free, name: 免费用户}
          - {id: pro, name: 专业版}
          - {id: premium, name: 高级版}
        products:
          - {id: pro-monthly, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, price: 18.00}
          - {id: pro-yearly, product_id: com.example.storehook.basic.yearly, tier: pro, period: year, price: 128.00}
        features:
          - id: ai_explain
            name: AI 单词解释
            unit: 次
            limits: {free: 1 per day, pro: 3 per day, premium: unlimited}
          - id: voice_chat
            name: 语音对话
            unit: 分钟
            limits: {free: no, pro: 30 per month, premium: unlimited}
        aliases:
          ai: ai_explain
          voice-chat: voice_chat
        trial: {tier: pro, days: 7, products: [pro-yearly]}
        """
}
