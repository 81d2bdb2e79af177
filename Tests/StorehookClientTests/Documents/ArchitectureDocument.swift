/// The architecture of a client with a free tier and one paid one.
enum ArchitectureDocument {
    static let items: [DocumentedItem] = [
        .init(6, "订阅状态", "SubscriptionStatusModel.snapshot", by: "PlanModelTests.subscriber"),
        .init(7, "限制警告", "FeatureGate.warning", by: "FeatureGateTests.getBillLimitWarning"),
        .init(7, "升级按钮", "TextKey.upgrade", by: "PlanModelTests.free"),
        .init(7, "Pro 门控", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(8, "导出按钮", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(11, "功能对比", "PaywallModel.snapshot", by: "ComparisonTableTests.bills"),
        .init(12, "购买选项", "PaywallModel.snapshot", by: "PaywallContentTests.options"),
        .init(13, "恢复购买", "PaywallModel.restore", by: "PaywallModelTests.restores"),
        .init(18, "功能权限检查", "FeatureGate.checkAccess", by: "FeatureGateTests.access"),
        .init(20, "账单限制逻辑", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(82, "isProUser? → 允许", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(84, "< 500 → 允许", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(85, ">= 500 → 拒绝 + 显示升级提示", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(
            86, "SubscriptionManager.canExportData", "FeatureGate.isOpen",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(88, "拒绝 + 显示升级提示", "FeatureGate.check", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            89, "SubscriptionManager.canUseCloudSync", "FeatureGate.isOpen",
            by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(
            130, "canCreateBill(currentBillCount: Int) -> Bool", "FeatureGate.check",
            by: "FeatureGateTests.canCreateBill"),
        .init(
            131, "getBillLimitWarning(currentBillCount: Int) -> String?", "FeatureGate.warning",
            by: "FeatureGateTests.getBillLimitWarning"),
        .init(132, "canUseCloudSync: Bool", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(133, "canExportData: Bool", "FeatureGate.isOpen", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(176, "创建账单 | ≤ 500 条 | ✅ 无限", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(177, "查看统计 | ✅", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(181, "云同步 | ❌ | ✅", "ComparisonTable", by: "ComparisonTableTests.bills"),
        .init(205, "账单限制 → 显示升级提示", "FeatureGate.check", by: "FeatureGateTests.canCreateBill"),
        .init(206, "导出限制 → 显示升级提示", "FeatureGate.check", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(207, "云同步限制 → 显示升级提示", "FeatureGate.check", by: "FeatureGateTests.canUseCloudSyncAndExportData"),
        .init(220, "购买界面打开时才加载产品", "PaywallModel.load", by: "PaywallModelTests.loads"),
        .init(231, "每次功能调用都检查权限", "FeatureGate.checkAccess", by: "FeatureGateTests.tracked"),
        .init(248, "升级提示显示测试", "FeatureGate.check", by: "GateTextTests.tier"),
    ]
}
