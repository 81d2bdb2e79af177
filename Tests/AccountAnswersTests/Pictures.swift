import Accounts
import AppStorePayloads
import Base
import Testing

@testable import APIKit
@testable import AccountAPI

/// Accounts and catalogs that tests tell of.
enum Pictures {
    /// 2024-01-10T00:00:00Z
    static let now = Timestamp(millisecondsSince1970: 1_704_844_800_000)
    static let app = "com.yourapp"
    static let token = UniqueIdentifier(high: 0x1111_2222_3333_4444, low: 0x8555_6666_7777_8888)

    static func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

    /// A subscription of `com.yourapp.monthly`, in Sandbox.
    static func monthly(
        until end: Timestamp, status: AccountStatus = .active, willRenew: Bool = true
    ) -> SubscriptionPicture {
        SubscriptionPicture(
            productID: "com.yourapp.monthly", bundleID: app, originalTransactionID: "2000000000000001",
            environment: "Sandbox", status: status, access: status.access, expiresAt: end, willRenew: willRenew)
    }

    /// An account that has this subscription, or none.
    static func account(
        _ subscription: SubscriptionPicture?, tier: String = "pro", at instant: Timestamp = now
    ) -> AccountPicture {
        AccountPicture(
            account: "user-42", token: token, environment: subscription?.environment ?? "Production", version: 7,
            instant: instant, tier: subscription?.access == true ? tier : "free",
            status: subscription?.status ?? .free, source: subscription == nil ? .none : .apple,
            access: subscription?.access ?? false, expiresAt: subscription?.expiresAt,
            willRenew: subscription?.willRenew ?? false, subscriptions: subscription.map { [$0] } ?? [])
    }

    /// EmoFlow's: two products, prices in yuan, names in Chinese.
    static let emoFlow = Catalog(
        tiers: [.init(id: "free"), .init(id: "pro", names: LocalizedText("会员", language: "zh-Hans"))],
        products: [
            .init(
                id: "monthly", productID: "com.yztao92.EmoFlow.subscription.monthly", bundleID: "com.yztao92.EmoFlow",
                tier: "pro", names: LocalizedText("包月", language: "zh-Hans"),
                periodNames: LocalizedText("每月", language: "zh-Hans"), price: 12_000, currency: "CNY",
                priceTexts: LocalizedText("¥12", language: "zh-Hans"), period: .month, sortOrder: 1),
            .init(
                id: "yearly", productID: "com.yztao92.EmoFlow.subscription.yearly", bundleID: "com.yztao92.EmoFlow",
                tier: "pro", names: LocalizedText("包年", language: "zh-Hans"),
                periodNames: LocalizedText("每年", language: "zh-Hans"), price: 98_000, currency: "CNY", period: .year,
                sortOrder: 2, isPopular: true),
        ])

    /// The same, of the app in the document's other examples.
    static let yourApp = Catalog(
        tiers: [.init(id: "free"), .init(id: "pro")],
        products: [
            .init(
                id: "monthly", productID: "com.yourapp.monthly", bundleID: app, tier: "pro", period: .month)
        ])

    /// Three tiers with features of every kind of limit, and a trial.
    static let reading = Catalog(
        tiers: [
            .init(id: "free", names: LocalizedText("Free", others: ["zh-Hans": "免费版"])),
            .init(id: "pro", names: LocalizedText("Pro", others: ["zh-Hans": "专业版"])),
            .init(id: "premium"),
        ],
        products: [
            .init(
                id: "pro_yearly", productID: "com.readmigo.pro.yearly", bundleID: "com.readmigo", tier: "pro",
                names: LocalizedText("Pro, a year", others: ["zh-Hans": "专业版年度"]),
                texts: LocalizedText("All of Pro"), price: 128_000, currency: "USD", period: .year, sortOrder: 1),
            .init(
                id: "premium_lifetime", productID: "com.readmigo.premium.lifetime", bundleID: "com.readmigo",
                tier: "premium", period: .lifetime, sortOrder: 2),
        ],
        features: [
            .init(
                id: "ai_explain",
                limits: ["free": .count(5, per: .day), "pro": .count(100, per: .day), "premium": .unlimited]),
            .init(id: "advanced_ai", limits: ["free": .no, "pro": .no, "premium": .yes]),
            .init(
                id: "saved_words",
                limits: ["free": .count(50, per: .total), "pro": .count(1000, per: .total), "premium": .unlimited]),
        ],
        trial: .init(tier: "pro", days: 7, products: ["pro_yearly"]))
}

/// The text of an answer.
func text(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

/// JSON as a document prints it, without the white space between its parts.
func compact(_ document: String) -> String {
    var (text, isQuoted, isEscaped) = ("", false, false)
    for character in document {
        if !isQuoted, character.isWhitespace { continue }
        if character == "\"", !isEscaped { isQuoted.toggle() }
        isEscaped = character == "\\" && !isEscaped
        text.append(character)
    }
    return text
}

/// What the schema finds wrong with an answer; nil if it fits.
func fault<Subject>(_ shape: AccountShape<Subject>, _ subject: Subject, _ reader: Reader) throws -> String? {
    let object = try #require(try JSONDocument(shape.value(of: subject, for: reader).bytes).object)
    return shape.schema.fault(in: object)
}
