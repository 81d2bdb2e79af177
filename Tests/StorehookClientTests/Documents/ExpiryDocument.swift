/// The guide to the end of subscriptions.
enum ExpiryDocument {
    static let items: [DocumentedItem] = [
        .init(11, "检测订阅是否即将到期（7 天内）", "RenewalBanner", by: "PlanContentTests.bannerDays"),
        .init(26, "显示 `SubscriptionExpiredView`", "ExpiredModel.snapshot", by: "PlanModelTests.expired"),
        .init(43, "显示过期提示", "ExpiredModel.snapshot", by: "PlanModelTests.expired"),
        .init(44, "显示过期日期（如果有）", "ExpiredModel.snapshot", by: "PlanContentTests.expired"),
        .init(45, "\"立即續訂\" 按钮（跳转到支付页面）", "TextKey.renewNow", by: "PlanModelTests.expired"),
        .init(46, "\"恢復購買\" 按钮（恢复之前的购买）", "ExpiredModel.restore", by: "PlanModelTests.restores"),
        .init(75, "如果订阅变为无效，显示过期提示", "ExpiredModel.snapshot", by: "PlanModelTests.expired"),
        .init(83, "用户点击 \"立即續訂\" → 跳转到支付页面", "ExpiredModel.snapshot", by: "PlanModelTests.expired"),
        .init(86, "在主应用中显示提醒横幅", "RenewalBanner", by: "PlanContentTests.bannerDays"),
        .init(87, "提示用户续订", "RenewalBanner", by: "PlanContentTests.bannerDays"),
        .init(88, "不影响当前使用", "RenewalBanner", by: "PlanContentTests.noBanner"),
        .init(95, "用户无需任何操作", "RenewalBanner", by: "PlanContentTests.noBanner"),
        .init(149, "不会。用户数据保存在 Supabase", "TextKey.expiredMessage", by: "PlanContentTests.expired"),
        .init(153, "应用会检测到订阅过期并提示用户续订", "RenewalBanner", by: "PlanContentTests.bannerDays"),
    ]
}
