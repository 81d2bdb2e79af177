import Accounts
import AppStorePayloads
import Base
import Subscriptions
import Testing

@testable import APIKit
@testable import AccountAPI

/// Accounts and catalogs that tests answer about.
enum Views {
    /// 2024-01-10T00:00:00Z
    static let now = Timestamp(millisecondsSince1970: 1_704_844_800_000)
    static let app = "com.yourapp"
    static let token = UniqueIdentifier(high: 0x1111_2222_3333_4444, low: 0x8555_6666_7777_8888)

    static func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

    /// A subscription that gives access if its status does.
    static func purchase(
        _ productID: String, of bundleID: String, _ originalTransactionID: String, in environment: String,
        until end: Timestamp?, status: AccountStatus, willRenew: Bool
    ) -> SubscriptionView {
        var view = SubscriptionView(
            PurchaseKey(
                environment: environment, bundleID: bundleID, originalTransactionID: originalTransactionID))
        view.productID = productID
        view.status =
            switch status {
            case .active: .active
            case .trial: .trial
            case .cancelled: .cancelled
            case .gracePeriod: .gracePeriod
            case .revoked: .revoked
            case .expired, .trialExpired, .free: .expired
            }
        view.givesAccess = status.access
        view.accessUntil = end
        view.willRenew = willRenew
        return view
    }

    /// A subscription of `com.yourapp.monthly`, in Sandbox.
    static func monthly(
        until end: Timestamp, status: AccountStatus = .active, willRenew: Bool = true
    ) -> SubscriptionView {
        purchase(
            "com.yourapp.monthly", of: app, "2000000000000001", in: "Sandbox", until: end, status: status,
            willRenew: willRenew)
    }

    /// An account that has this subscription, or none.
    /// - Parameter status: the account's; the subscription's by default.
    static func account(
        _ subscription: SubscriptionView?, status: AccountStatus? = nil, tier: String = "pro",
        at instant: Timestamp = now
    ) -> AccountView {
        let phase = AccountPhase(
            startsAt: .distantPast,
            status: status ?? subscription.map { AccountStatus(rawValue: $0.purchaseStatus.rawValue) ?? .expired }
                ?? .free,
            tier: subscription?.givesAccess == true ? tier : "free", source: subscription == nil ? .none : .apple,
            productID: subscription?.productID, purchase: subscription?.key, expiresAt: subscription?.accessUntil,
            willRenew: subscription?.willRenew ?? false)
        return AccountView(
            token: token, account: "user-42", environment: subscription?.key.environment ?? "Production",
            instant: instant, version: 7, state: .always(phase), purchases: subscription.map { [$0] } ?? [])
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

    /// Introductory offers of every kind, in a group without a name and in one of its own.
    static let offering = Catalog(
        tiers: [.init(id: "free"), .init(id: "pro")],
        products: [
            .init(
                id: "yearly", productID: "yearly", bundleID: app, tier: "pro", period: .year,
                introductory: .init(.freeTrial, for: .init(7, .day))),
            .init(
                id: "monthly", productID: "monthly", bundleID: app, tier: "pro", currency: "USD", period: .month,
                introductory: .init(.payAsYouGo, for: .init(3, .month), price: 990)),
            .init(id: "weekly", productID: "weekly", bundleID: app, tier: "pro", period: .week),
            .init(
                id: "news", productID: "news", bundleID: app, tier: "pro", currency: "USD", period: .year,
                group: "22222222",
                introductory: .init(.payUpFront, for: .init(1, .year), price: 9900)),
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
                id: "saved_words", units: LocalizedText("words", others: ["zh-Hans": "个"]),
                limits: ["free": .count(50, per: .total), "pro": .count(1000, per: .total), "premium": .unlimited]),
        ],
        trial: .init(tier: "pro", days: 7, products: ["pro_yearly"]))
}

extension AccountState {
    /// One phase, from the beginning on.
    static func always(_ phase: AccountPhase) -> AccountState {
        guard let state = AccountState([phase]) else { preconditionFailure("a state has a phase") }
        return state
    }
}

/// The text of an answer.
func text(_ value: JSONValue) -> String { value.text }

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
    return shape.schema.fault(in: object)?.english
}

/// Likewise with a list of products, for a reader of Chinese.
func fault(_ products: ProductsAnswer) throws -> String? {
    let value = products.value(for: Reader(Views.reading, languages: ["zh-Hans"]))
    return ProductsAnswer.schema.fault(in: try #require(try JSONDocument(value.bytes).object))?.english
}
