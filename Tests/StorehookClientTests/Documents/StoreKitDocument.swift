/// StoreKit 2 with the App Store Server API, the client's part.
enum StoreKitDocument {
    static let items: [DocumentedItem] = [
        .init(42, "购买时需绑定支付方式并确认订阅，但**不扣款**", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(43, "试用期内可随时取消，**不产生任何费用**", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(44, "试用期结束后自动扣款", "TextKey.trialNotice", by: "PaywallContentTests.options"),
        .init(50, "(trial)", "TextKey.statusTrial", by: "PlanContentTests.statuses"),
        .init(56, "(active)", "TextKey.statusActive", by: "PlanContentTests.statuses"),
        .init(56, "(expired)", "TextKey.statusExpired", by: "PlanContentTests.statuses"),
        .init(61, "(cancelled)", "TextKey.statusCancelled", by: "PlanContentTests.statuses"),
    ]
}
