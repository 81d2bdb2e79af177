/// The architecture of a client with a free tier and one paid one.
enum ArchitectureDocument {
    static let items: [DocumentedItem] = [
        .init(6, "订阅状态", "SubscriptionStatusModel.snapshot", by: "PlanModelTests.subscriber"),
        .init(7, "限制警告", "FeatureGate.warning", by: "FeatureGateTests.getBillLimitWarning"),
        .init(7, "升级按钮", "SubscriptionStatusSnapshot.upgradeTitle", by: "PlanModelTests.free"),
        .init(7, "Pro 门控", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(8, "导出按钮", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(10, "PurchaseView", "PaywallModel", by: "PaywallModelTests.loads"),
        .init(11, "功能对比", "PaywallSnapshot.comparison", by: "ComparisonTableTests.bills"),
        .init(12, "购买选项", "PaywallSnapshot.options", by: "PaywallContentTests.options"),
        .init(13, "恢复购买", "PaywallModel.restore", by: "PaywallModelTests.restores"),
        .init(16, "SubscriptionManager", "SubscriptionManager", by: "SubscriptionManagerTests.purchase"),
        .init(17, "订阅状态管理", "SubscriptionManager.state", by: "AnsweredStatusTests.states"),
        .init(
            18, "功能权限检查", "FeatureGate.checkAccess", by: "FeatureGateTests.access",
            but: "The gate is a type beside the manager."),
        .init(19, "本地状态缓存", "StatusCache.load", by: "ManagerStatusTests.offline"),
        .init(20, "账单限制逻辑", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(
            21, "canCreateBill()", "FeatureGate.check", by: "FeatureGateTests.canCreateBill",
            but: "Features are the catalog's, and no names in the code."),
        .init(
            22, "canExportData", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData",
            but: "Features are the catalog's, and no names in the code."),
        .init(
            23, "canUseCloudSync", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData",
            but: "Features are the catalog's, and no names in the code."),
        .init(
            24, "getBillLimitWarning()", "FeatureGate.warning", by: "FeatureGateTests.getBillLimitWarning",
            but: "Features are the catalog's, and no names in the code."),
        .init(25, "listens to what was bought", "SubscriptionManager.states", by: "ManagerNamesTests.listeners"),
        .init(
            27, "IAPManager", "SubscriptionManager", by: "SubscriptionManagerTests.purchase",
            but: "One manager does both: two that listen to each other can disagree."),
        .init(28, "产品加载", "SubscriptionManager.loadProducts", by: "ManagerStatusTests.products"),
        .init(29, "购买处理", "SubscriptionManager.purchase", by: "SubscriptionManagerTests.purchase"),
        .init(
            30, "收据验证", "AccountAPI.verify", by: "AnsweredStatusTests.delivers",
            but: "The signed transaction is sent in place of a receipt."),
        .init(31, "交易监听", "PurchaseSource.updates", by: "SubscriptionManagerTests.updates"),
        .init(32, "恢复购买", "SubscriptionManager.restorePurchases", by: "SubscriptionManagerTests.restore"),
        .init(33, "loadProducts()", "SubscriptionManager.loadProducts", by: "ManagerStatusTests.products"),
        .init(34, "purchase()", "SubscriptionManager.purchase", by: "SubscriptionManagerTests.purchase"),
        .init(35, "restorePurchases()", "SubscriptionManager.restorePurchases", by: "SubscriptionManagerTests.restore"),
        .init(38, "StoreKit 2", "StoreKitSource", by: "AppleDeclarationTests.accepted"),
        .init(39, "Product.products()", "StoreKitSource.products", by: "AppleDeclarationTests.calls"),
        .init(40, "Product.purchase()", "StoreKitSource.purchase", by: "AppleDeclarationTests.calls"),
        .init(41, "Transaction.updates", "StoreKitSource.updates", by: "AppleDeclarationTests.calls"),
        .init(
            42, "Transaction.currentEntitlements", "StoreKitSource.currentEntitlements",
            by: "AppleDeclarationTests.calls"),
        .init(43, "AppStore.sync()", "StoreKitSource.sync", by: "AppleDeclarationTests.calls"),
        .init(51, "the customer presses buy", "PaywallModel.purchase", by: "PaywallModelTests.purchases"),
        .init(53, "PurchaseView.purchase()", "PaywallModel.purchase", by: "PaywallModelTests.purchases"),
        .init(
            55, "IAPManager.purchase(product)", "SubscriptionManager.purchase", by: "SubscriptionManagerTests.purchase",
            but: "It takes the store's id: a product of StoreKit's is no type on Linux."),
        .init(56, "StoreKit buys", "PurchaseSource.purchase", by: "SubscriptionManagerTests.purchase"),
        .init(
            58, "the system's window, the confirmation, Apple's check",
            elsewhere: "StoreKit does this inside its purchase call."),
        .init(64, "hands over how it ended", "PurchaseOutcome", by: "SubscriptionManagerTests.attempts"),
        .init(
            66, "IAPManager.updatePurchasedProducts()", "SubscriptionManager.purchasedProductIDs",
            by: "ManagerNamesTests.names", but: "It happens in the purchase; no app has to call it."),
        .init(68, "the manager hears of the change", "SubscriptionManager.states", by: "ManagerNamesTests.listeners"),
        .init(70, "takes over the new status", "SubscriptionManager.state", by: "AnsweredStatusTests.delivers"),
        .init(72, "keeps it on the device", "StatusCache.save", by: "ManagerStatusTests.cacheContent"),
        .init(74, "the screens follow by themselves", "SubscriptionManager.states", by: "ManagedModelsTests.paywall"),
        .init(80, "asks before each use", "FeatureGate.checkAccess", by: "FeatureGateTests.access"),
        .init(
            81, "SubscriptionManager.canCreateBill()", "FeatureGate.check", by: "FeatureGateTests.canCreateBill",
            but: "Features are the catalog's, and no names in the code."),
        .init(82, "Pro: allowed", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(84, "under 500: allowed", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(85, "from 500 on: refused, with a prompt", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(
            86, "SubscriptionManager.canExportData", "FeatureGate.isOpen",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            88, "export without Pro: refused, with a prompt", "FeatureGate.check",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            89, "SubscriptionManager.canUseCloudSync", "FeatureGate.isOpen",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            91, "cloud sync without Pro: refused, with a prompt", "FeatureGate.check",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(95, "at each start", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(
            99, "SubscriptionManager.refreshSubscriptionStatus()", "SubscriptionManager.refreshSubscriptionStatus",
            by: "ManagerStatusTests.coalesces"),
        .init(
            101, "IAPManager.updatePurchasedProducts()", "PurchaseSource.currentEntitlements",
            by: "SubscriptionManagerTests.lacking", but: "It happens in each scan; no app has to call it."),
        .init(
            103, "goes through currentEntitlements", "PurchaseSource.currentEntitlements",
            by: "SubscriptionManagerTests.lacking"),
        .init(104, "looks at each transaction", "StoreResult", by: "SubscriptionManagerTests.unverified"),
        .init(105, "检查签名", "StoreResult.verified", by: "SubscriptionManagerTests.unverified"),
        .init(106, "检查过期时间", "StoreTransaction.expiresAt", by: "AccessDecisionTests.table"),
        .init(107, "提取产品 ID", "StoreTransaction.productID", by: "ManagerNamesTests.names"),
        .init(
            109, "updates purchasedProductIDs", "SubscriptionManager.purchasedProductIDs", by: "ManagerNamesTests.names"
        ),
        .init(114, "for good: .pro, .lifetime", "SubscriptionManager.purchaseType", by: "AnsweredStatusTests.types"),
        .init(
            115, "a year: .pro, .annual", "SubscriptionManager.purchaseType", by: "AnsweredStatusTests.types",
            but: "The kind is subscription, and the period a year: a catalog may sell others."),
        .init(
            116, "nothing: .free, .none", "SubscriptionManager.purchaseType", by: "AnsweredStatusTests.types",
            but: "The first tier is nil."),
        .init(
            118, "keeps it in UserDefaults", "FileStatusCache.save", by: "ManagerStatusTests.file",
            but: "A file is written whole or not at all, on Linux too; an app may bring a StatusCache of its own."),
        .init(
            125, "class SubscriptionManager: ObservableObject", "SubscriptionManager",
            by: "AppleDeclarationTests.observed"),
        .init(
            127, "subscriptionStatus: SubscriptionStatus", "State.status", by: "AnsweredStatusTests.states",
            but: "The state is one value, with the status in it."),
        .init(128, "isProUser: Bool", "SubscriptionManager.isSubscribed", by: "ManagerNamesTests.names"),
        .init(
            130, "canCreateBill(currentBillCount: Int) -> Bool", "FeatureGate.check",
            by: "FeatureGateTests.canCreateBill", but: "It gives the prompt, or nil where it is allowed."),
        .init(
            131, "getBillLimitWarning(currentBillCount: Int) -> String?", "FeatureGate.warning",
            by: "FeatureGateTests.getBillLimitWarning"),
        .init(132, "canUseCloudSync: Bool", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(133, "canExportData: Bool", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            135, "updateSubscriptionStatus(purchasedIDs: Set<String>)", "SubscriptionManager.refreshSubscriptionStatus",
            by: "SubscriptionManagerTests.updates",
            but: "No caller can set what was bought: the store and the server state it."),
        .init(
            136, "refreshSubscriptionStatus()", "SubscriptionManager.refreshSubscriptionStatus",
            by: "ManagerStatusTests.coalesces"),
        .init(138, "saveSubscriptionStatus()", "StatusCache.save", by: "ManagerNamesTests.cachedFirst"),
        .init(
            143, "class IAPManager: ObservableObject", "SubscriptionManager", by: "AppleDeclarationTests.observed",
            but: "One manager does both."),
        .init(145, "products: [Product]", "SubscriptionManager.products", by: "ManagerStatusTests.products"),
        .init(
            146, "purchasedProductIDs: Set<String>", "SubscriptionManager.purchasedProductIDs",
            by: "ManagerNamesTests.names"),
        .init(147, "isLoading: Bool", "SubscriptionManager.isLoading", by: "ManagerNamesTests.loading"),
        .init(
            148, "errorMessage: String?", "SubscriptionManager.error", by: "ManagerNamesTests.errors",
            but: "ClientMessage has its text in the customer's language."),
        .init(150, "loadProducts() async", "SubscriptionManager.loadProducts", by: "ManagerStatusTests.products"),
        .init(
            151, "product(for productID: IAPProduct) -> Product?", "SubscriptionManager.product",
            by: "ManagerStatusTests.products"),
        .init(
            152, "isPurchased(_ productID: IAPProduct) -> Bool", "SubscriptionManager.isPurchased",
            by: "ManagerNamesTests.names"),
        .init(
            154, "purchase(_ product: Product) async -> Bool", "PurchaseResult.succeeded",
            by: "SubscriptionManagerTests.attempts"),
        .init(
            155, "restorePurchases() async -> Bool", "RestoreResult.succeeded", by: "SubscriptionManagerTests.restore"),
        .init(
            157, "updatePurchasedProducts() async", "SubscriptionManager.refreshSubscriptionStatus",
            by: "SubscriptionManagerTests.lacking"),
        .init(158, "listenForTransactions()", "SubscriptionManager.start", by: "SubscriptionManagerTests.updates"),
        .init(159, "checkVerified", "StoreResult.unverified", by: "SubscriptionManagerTests.unverified"),
        .init(
            165, "tier: free, pro", "SubscriptionStatus.tier", by: "AnsweredStatusTests.types",
            but: "Tiers are the catalog's words."),
        .init(
            166, "purchaseType: none, annual, lifetime", "SubscriptionStatus.purchaseType",
            by: "AnsweredStatusTests.types"),
        .init(167, "expirationDate: Date?", "SubscriptionStatus.expiresAt", by: "AnsweredStatusTests.states"),
        .init(168, "purchaseDate: Date?", "SubscriptionStatus.purchaseDate", by: "GoldenAnswerTests.status"),
        .init(169, "isActive: Bool", "SubscriptionStatus.isActive", by: "GoldenAnswerTests.status"),
        .init(170, "displayStatus: String", "SubscriptionStatus.displayStatus", by: "AnsweredStatusTests.states"),
        .init(
            174, "免费版, Pro 年订阅, Pro 终身", "ComparisonTable.columns", by: "ComparisonTableTests.bills",
            but: "A year and for good are products of one tier: one column."),
        .init(176, "创建账单: ≤ 500 条, 无限", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(177, "查看统计", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(178, "管理分类", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(179, "管理归属人", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(180, "管理支付方式", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(181, "云同步", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(182, "导出 CSV", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(183, "导出数据库", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(186, "初始状态", "Access.none", by: "AccessDecisionTests.table"),
        .init(187, "Free buys a year: Pro", "AccessDecision.access", by: "AnsweredStatusTests.delivers"),
        .init(190, "it expires: Free again", "AccessDecision.access", by: "ManagerStatusTests.online"),
        .init(191, "buys it for good: Pro for good", "AccessDecision.access", by: "ManagerNamesTests.names"),
        .init(191, "Free buys it for good", "AccessDecision.access", by: "AccessDecisionTests.table"),
        .init(195, "for good", "Access.until", by: "AccessDecisionTests.table"),
        .init(200, "cancelled: back to the paywall", "ClientError.cancelled", by: "PaywallModelTests.cancelled"),
        .init(201, "network: a message, and retry", "ClientError.network", by: "ManagerNamesTests.errors"),
        .init(202, "not verified: a message", "ClientError.verificationFailed", by: "ClientMessageTests.messages"),
        .init(203, "unknown: a message, and support", "ClientError.unknown", by: "ManagerNamesTests.errors"),
        .init(205, "limit of bills: a prompt", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(206, "export: a prompt", "FeatureGate.check", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(207, "cloud sync: a prompt", "FeatureGate.check", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(209, "no network: the kept status", "Basis.cache", by: "ManagerStatusTests.offline"),
        .init(209, "no network: asked again later", "SubscriptionManager.start", by: "ManagerStatusTests.waits"),
        .init(210, "invalid: free", "AccessDecision.allows", by: "SubscriptionManagerTests.unproven"),
        .init(
            211, "unreadable: the kept status", "ClientError.unreadableAnswer",
            by: "ManagerStatusTests.unreadableAnswer"),
        .init(
            215, "the status is in UserDefaults", "FileStatusCache", by: "ManagerStatusTests.file",
            but: "A file is written whole or not at all, on Linux too."),
        .init(
            216, "not verified again at each start", "SubscriptionManager.start", by: "SubscriptionManagerTests.lacking"
        ),
        .init(217, "verified behind the screen", "SubscriptionManager.start", by: "ManagerNamesTests.cachedFirst"),
        .init(
            219, "products when they are needed", "SubscriptionManager.loadProducts", by: "ManagerStatusTests.products"),
        .init(220, "products when the paywall opens", "PaywallModel.load", by: "PaywallModelTests.loads"),
        .init(222, "Combine", "SubscriptionManager.objectWillChange", by: "AppleDeclarationTests.observed"),
        .init(
            223, "@Published updates the screens", "SubscriptionManager.objectWillChange",
            by: "AppleDeclarationTests.observed",
            but: "The state is one value; objectWillChange is sent before each change."),
        .init(224, "no refresh by hand", "SubscriptionManager.states", by: "ManagedModelsTests.paywall"),
        .init(227, "StoreKit's own verification", "StoreKitSource", by: "AppleDeclarationTests.accepted"),
        .init(228, "检查交易签名", "StoreResult.unverified", by: "SubscriptionManagerTests.unverified"),
        .init(229, "checks product and end", "AccessDecision.access", by: "AccessDecisionTests.table"),
        .init(231, "asks at each use", "FeatureGate.checkAccess", by: "FeatureGateTests.tracked"),
        .init(232, "the device is not trusted", "UsageTracker.count", by: "AnsweredUsageTests.fates"),
        .init(233, "服务端验证", "AccountAPI.verify", by: "AnsweredStatusTests.delivers"),
        .init(235, "not verified: free", "StoreResult.unverified", by: "SubscriptionManagerTests.unverified"),
        .init(236, "asks again and again", "SubscriptionManager.start", by: "ManagerStatusTests.interval"),
        .init(237, "监听交易更新", "PurchaseSource.updates", by: "SubscriptionManagerTests.updates"),
        .init(240, "tests of the manager", "SubscriptionManager", by: "SubscriptionManagerTests.once"),
        .init(241, "功能门控测试", "FeatureGate", by: "FeatureGateTests.access"),
        .init(242, "状态转换测试", "SubscriptionManager.state", by: "ManagerNamesTests.names"),
        .init(244, "购买流程测试", "SubscriptionManager.purchase", by: "AnsweredStatusTests.delivers"),
        .init(245, "恢复购买测试", "SubscriptionManager.restorePurchases", by: "AnsweredStatusTests.restores"),
        .init(246, "状态同步测试", "SubscriptionManager.refreshSubscriptionStatus", by: "StatusLivesTests.lives"),
        .init(248, "升级提示显示测试", "FeatureGate.prompt", by: "GateTextTests.tier"),
        .init(249, "购买界面交互测试", "PaywallModel.select", by: "PaywallModelTests.selects"),
        .init(250, "功能解锁测试", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            254, "development: a StoreKit configuration", "StandInSource", by: "StandInSourceTests.purchases",
            but: "The stand-in sells without StoreKit, on Linux too."),
        .init(258, "test and production: App Store Connect", elsewhere: "Apple's accounts are the app's owner's."),
        .init(268, "figures of users and conversion", elsewhere: "The server counts them."),
        .init(
            271, "how often restoring succeeds", "AccountAPI.report", by: "SubscriptionManagerTests.restore",
            but: "The app reports each attempt; the server counts."),
        .init(
            272, "how often buying fails", "AccountAPI.report", by: "SubscriptionManagerTests.attempts",
            but: "The app reports each attempt; the server counts."),
        .init(274, "购买流程日志", "SubscriptionManager", by: "ManagerNamesTests.log"),
        .init(275, "验证失败日志", "SubscriptionManager", by: "SubscriptionManagerTests.unverified"),
        .init(276, "状态转换日志", "SubscriptionManager.statusBlock", by: "ManagerNamesTests.blocks"),
        .init(277, "错误日志", "ClientError.kind", by: "ManagerNamesTests.log"),
    ]
}
