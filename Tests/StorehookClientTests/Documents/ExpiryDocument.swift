/// The guide to the end of subscriptions.
enum ExpiryDocument {
    static let items: [DocumentedItem] = [
        .init(5, "SubscriptionManager", "SubscriptionManager", by: "SubscriptionManagerTests.purchase"),
        .init(8, "asks StoreKit", "PurchaseSource.currentEntitlements", by: "SubscriptionManagerTests.lacking"),
        .init(
            9, "asks the database for the end", "AccountAPI.status", by: "AnsweredStatusTests.states",
            but: "The account API answers for the database."),
        .init(10, "every five minutes", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(
            11, "ends within 7 days", "SubscriptionManager.isSubscriptionExpiringSoon", by: "ManagerStatusTests.states"),
        .init(
            12, "knows what has expired", "SubscriptionManager.isSubscriptionExpired", by: "ManagerStatusTests.online"),
        .init(
            16, "checkSubscriptionStatus()", "SubscriptionManager.checkSubscriptionStatus",
            by: "ManagerNamesTests.names"),
        .init(18, "isSubscriptionExpired", "SubscriptionManager.isSubscriptionExpired", by: "ManagerNamesTests.names"),
        .init(
            20, "isSubscriptionExpiringSoon", "SubscriptionManager.isSubscriptionExpiringSoon",
            by: "ManagerStatusTests.states"),
        .init(25, "asks at the start", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(26, "SubscriptionExpiredView", "ExpiredSnapshot.isExpired", by: "PlanModelTests.expired"),
        .init(
            27, "MainTabView", "SubscriptionManager.hasValidSubscription", by: "ManagerNamesTests.names",
            but: "The app's content is the app's; this says whether to show it."),
        .init(28, "the screen follows the status", "SubscriptionManager.states", by: "ManagerNamesTests.listeners"),
        .init(
            32, "hasCompletedInitialScan", "SubscriptionManager.hasCompletedInitialScan",
            by: "ManagerNamesTests.cachedFirst"),
        .init(33, "hasValidSubscription", "SubscriptionManager.hasValidSubscription", by: "ManagerNamesTests.names"),
        .init(36, "SubscriptionExpiredView()", "ExpiredModel", by: "PlanModelTests.expired"),
        .init(43, "says that it has expired", "ExpiredSnapshot.title", by: "PlanModelTests.expired"),
        .init(44, "says when, where that is known", "ExpiredSnapshot.expiredOn", by: "PlanContentTests.expired"),
        .init(45, "立即續訂", "ExpiredSnapshot.renewTitle", by: "PlanModelTests.expired"),
        .init(46, "恢復購買", "ExpiredModel.restore", by: "PlanModelTests.restores"),
        .init(48, "警告图标", elsewhere: "Icons are the app's; isExpired says when to show one."),
        .init(49, "过期提示文字", "ExpiredSnapshot.message", by: "PlanContentTests.expired"),
        .init(50, "过期日期显示", "ExpiredSnapshot.expiredOn", by: "PlanModelTests.expired"),
        .init(51, "续订按钮", "ExpiredSnapshot.renewTitle", by: "PlanModelTests.expired"),
        .init(52, "恢复购买按钮", "ExpiredSnapshot.restoreTitle", by: "PlanModelTests.expired"),
        .init(56, "asks at the start", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(58, "currentEntitlements", "PurchaseSource.currentEntitlements", by: "SubscriptionManagerTests.lacking"),
        .init(59, "验证交易签名", "StoreResult.unverified", by: "SubscriptionManagerTests.unverified"),
        .init(60, "hasActiveSubscription", "SubscriptionManager.hasActiveSubscription", by: "ManagerNamesTests.names"),
        .init(62, "user_subscriptions", elsewhere: "No app reads the database: the server does."),
        .init(63, "end_date, status", "SubscriptionStatus.expiresAt", by: "AnsweredStatusTests.states"),
        .init(
            64, "subscriptionExpiryDate", "SubscriptionManager.subscriptionExpiryDate", by: "ManagerNamesTests.ended"),
        .init(
            66, "StoreKit says valid: allowed", "AccessDecision.access", by: "AccessDecisionTests.table",
            but: "Unless the server has revoked, refunded, blocked or refused it."),
        .init(67, "StoreKit says no: the server decides", "AccessDecision.access", by: "AccessDecisionTests.table"),
        .init(68, "both ended: renew", "ExpiredSnapshot.isExpired", by: "ManagedModelsTests.restoring"),
        .init(70, "every five minutes, by itself", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(
            71, "Timer.publish", "ClientClock.sleep", by: "ManagerStatusTests.interval",
            but: "A task sleeps by the clock: there is no run loop on Linux."),
        .init(72, "the status is up to date", "SubscriptionManager.start", by: "ManagerNamesTests.listeners"),
        .init(
            74, "onChange(of: hasActiveSubscription)", "SubscriptionManager.states", by: "ManagerNamesTests.listeners"),
        .init(75, "it ends: the screen of the end", "ExpiredModel.snapshot", by: "ManagedModelsTests.restoring"),
        .init(
            80, "expired at the start", "SubscriptionManager.isSubscriptionExpired", by: "ManagerStatusTests.offline"),
        .init(81, "the screen of the end", "ExpiredSnapshot.isExpired", by: "ManagedModelsTests.restoring"),
        .init(
            82, "no access to the content", "SubscriptionManager.hasValidSubscription", by: "ManagerNamesTests.names"),
        .init(
            83, "立即續訂 leads to the paywall", "ExpiredSnapshot.renewTitle", by: "PlanModelTests.expired",
            but: "The app opens its PaywallModel: navigation is the app's."),
        .init(86, "a banner in the app", "SubscriptionStatusSnapshot.banner", by: "PlanModelTests.changes"),
        .init(87, "asks to renew", "RenewalBanner.action", by: "PlanContentTests.bannerDays"),
        .init(88, "use goes on", "RenewalBanner", by: "ManagerStatusTests.states"),
        .init(91, "Apple renews", elsewhere: "Apple does."),
        .init(92, "StoreKit has the renewal", "PurchaseSource.updates", by: "ManagerNamesTests.comesByItself"),
        .init(93, "the app hears of it", "PurchaseSource.updates", by: "ManagerNamesTests.comesByItself"),
        .init(
            94, "the server hears of it", "AccountAPI.verify", by: "ManagerNamesTests.comesByItself",
            but: "By Apple's notification, and by the app."),
        .init(95, "the customer does nothing", "RenewalBanner", by: "PlanContentTests.noBanner"),
        .init(
            105, "the content while it is valid", "SubscriptionManager.hasValidSubscription",
            by: "ManagerNamesTests.names"),
        .init(107, "asks again and again", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(117, "the screen of the end once it is not", "ExpiredModel.snapshot", by: "PlanModelTests.expired"),
        .init(121, "PaymentView", "PaywallModel", by: "PaywallModelTests.purchases"),
        .init(123, "the customer buys", "PaywallModel.purchase", by: "ManagedModelsTests.paywall"),
        .init(125, "the status is new", "SubscriptionManager.state", by: "ManagedModelsTests.paywall"),
        .init(127, "back to the content", "ExpiredSnapshot.isExpired", by: "PlanModelTests.expired"),
        .init(132, "accounts of the sandbox", elsewhere: "They are made in App Store Connect."),
        .init(137, "tests the screen of the end", "ExpiredModel.snapshot", by: "ManagedModelsTests.restoring"),
        .init(138, "tests renewing", "PaywallModel.purchase", by: "ManagedModelsTests.paywall"),
        .init(142, "📊 Subscription Status:", "SubscriptionManager.statusBlock", by: "ManagerStatusTests.block"),
        .init(143, "Has Active Subscription: false", "SubscriptionManager.statusBlock", by: "ManagerNamesTests.blocks"),
        .init(
            144, "Expiry Date: 2024-01-01 00:00:00 +0000", "SubscriptionManager.statusBlock",
            by: "ManagerStatusTests.block"),
        .init(
            145, "Plan Type: yearly", "SubscriptionManager.statusBlock", by: "AnsweredStatusTests.types",
            but: "The catalog's word: year."),
        .init(149, "nothing of the customer's is lost", "ExpiredSnapshot.message", by: "PlanContentTests.expired"),
        .init(
            150, "how to test an end", "StandInSource", by: "StandInSourceTests.updates",
            but: "The stand-in moves its clock."),
        .init(153, "renewal failed: asks to renew", "RenewalBanner", by: "PlanContentTests.bannerReasons"),
        .init(155, "SubscriptionManager.swift", "SubscriptionManager", by: "SubscriptionManagerTests.purchase"),
        .init(
            156, "SubscriptionExpiredView.swift", "ExpiredModel", by: "PlanModelTests.expired",
            but: "A model without a view: views are the app's."),
        .init(157, "ContentView.swift", elsewhere: "The app's own view."),
        .init(158, "PaymentService.swift", "SubscriptionManager.purchase", by: "SubscriptionManagerTests.purchase"),
    ]
}
