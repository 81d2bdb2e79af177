/// EmoFlow's API, as a client uses it.
enum EmoFlowDocument {
    static let items: [DocumentedItem] = [
        .init(102, "\"name\": \"包月\"", "PaywallOption", by: "PaywallContentTests.options"),
        .init(103, "\"price\": \"¥12\"", "PaywallOption", by: "PaywallContentTests.options"),
        .init(104, "\"daily_price\": \"仅需¥0.40/天\"", "TextKey.pricePerDay", by: "PaywallContentTests.pricePerDay"),
        .init(106, "\"period_display\": \"每月\"", "PaywallOption", by: "PaywallContentTests.options"),
        .init(108, "\"is_popular\": false", "PaywallOption", by: "PaywallContentTests.options"),
        .init(109, "\"sort_order\": 1", "PaywallModel.snapshot", by: "PaywallContentTests.options"),
        .init(190, "`active` | 订阅有效", "TextKey.statusActive", by: "PlanContentTests.statuses"),
        .init(191, "`expired` | 订阅已过期", "TextKey.statusExpired", by: "PlanContentTests.statuses"),
        .init(192, "`cancelled` | 订阅已取消", "TextKey.statusCancelled", by: "PlanContentTests.statuses"),
        .init(193, "`inactive` | 无订阅", "TextKey.statusFree", by: "PlanContentTests.statuses"),
    ]
}
