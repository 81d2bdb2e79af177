import Foundation
import Testing

@testable import StorehookClient

@Suite("The gate")
@MainActor
struct FeatureGateTests {
    private let device: UsageDevice
    private let tracker: UsageTracker

    init() {
        device = UsageDevice()
        device.server.with { $0.network = .down }
        tracker = device.launch()
    }

    /// A gate of the architecture document's app.
    private func bills(_ language: ClientLanguage = .simplifiedChinese) -> FeatureGate {
        FeatureGate(tracker: device.launch(bundled: SampleRules.bills), texts: ClientTexts(language))
    }

    @Test("allows, asks for a tier, or says that the limit is reached, until when, and what gives more")
    func access() async {
        let gate = FeatureGate(tracker: tracker, texts: ClientTexts(.english))
        #expect(gate.checkAccess(feature: "ai_explain") == .allowed)
        #expect(gate.checkAccess(feature: "ai_summary") == .restricted(.tierRequired(tier: "pro")))
        #expect(gate.checkAccess(feature: "no_such_feature") == .restricted(.notKnown))
        tracker.count("ai_explain", amount: 4)
        #expect(gate.checkAccess(feature: "ai_explain") == .allowed)
        let midnight = tracker.use(of: "ai_explain")?.resetsAt
        #expect(midnight != nil)
        #expect(
            gate.checkAccess(feature: "ai_explain", amount: 2)
                == .restricted(.limitReached(limit: 5, resetsAt: midnight, tier: "pro")))
        tracker.count("ai_explain")
        #expect(
            gate.checkAccess(feature: "ai_explain")
                == .restricted(.limitReached(limit: 5, resetsAt: midnight, tier: "pro")))
        device.tier = "premium"
        #expect(gate.checkAccess(feature: "ai_explain") == .allowed)
        device.tier = nil
        #expect(gate.checkAccess(feature: "ai_explain").isAllowed == false)
        device.pass(86_400)
        #expect(gate.checkAccess(feature: "ai_explain") == .allowed)
    }

    @Test("lets 499 bills become 500, and no more without Pro")
    func canCreateBill() {
        let gate = bills()
        #expect(gate.check("bills", currentCount: 0) == nil)
        #expect(gate.check("bills", currentCount: 499) == nil)
        #expect(gate.check("bills", currentCount: 500) == "「创建账单」的500条已用完，升级到Pro可获得更多。")
        #expect(gate.check("bills", currentCount: 501) != nil)
        device.tier = "pro"
        #expect(gate.check("bills", currentCount: 1_000_000) == nil)
    }

    @Test("warns before the 500th bill, and goes on to say so at the limit")
    func getBillLimitWarning() {
        let gate = bills()
        #expect(gate.warning("bills", currentCount: 449) == nil)
        #expect(gate.warning("bills", currentCount: 450) == "「创建账单」还剩50条。")
        #expect(gate.warning("bills", currentCount: 500) == "「创建账单」的500条已用完，升级到Pro可获得更多。")
        #expect(bills(.traditionalChinese).warning("bills", currentCount: 499) == "「创建账单」還剩1条。")
        #expect(bills(.english).warning("bills", currentCount: 499) == "创建账单: only 1 left.")
        device.tier = "pro"
        #expect(gate.warning("bills", currentCount: 499) == nil)
    }

    @Test("warns as early as the app says")
    func warningShare() {
        let gate = FeatureGate(
            tracker: device.launch(bundled: SampleRules.bills), texts: ClientTexts(.english), warningShare: 0.5)
        #expect(gate.warning("bills", currentCount: 249) == nil)
        #expect(gate.warning("bills", currentCount: 250) == "创建账单: only 250 left.")
    }

    @Test("opens cloud sync and export to Pro alone, with a prompt for the others")
    func canUseCloudSyncAndExportData() {
        let gate = bills()
        #expect(!gate.isOpen("cloud_sync") && !gate.isOpen("export") && gate.isOpen("statistics"))
        #expect(gate.check("cloud_sync") == "升级到Pro即可使用「云同步」。")
        #expect(gate.check("export") == "升级到Pro即可使用「导出 CSV」。")
        #expect(gate.warning("cloud_sync") == nil)
        device.tier = "pro"
        #expect(gate.isOpen("cloud_sync") && gate.isOpen("export"))
        #expect(gate.check("cloud_sync") == nil && gate.check("export") == nil)
    }

    @Test("goes by the tracker's count where the app has none of its own")
    func tracked() {
        let gate = FeatureGate(tracker: tracker, texts: ClientTexts(.english))
        tracker.count("vocabulary", amount: 46)
        #expect(gate.warning("vocabulary") == "Saved words: only 4 left.")
        #expect(gate.check("vocabulary") == nil)
        tracker.count("vocabulary", amount: 4)
        #expect(gate.check("vocabulary") == "Saved words: all 50 words are used. Upgrade to Pro for more.")
        tracker.release("vocabulary", amount: 20)
        #expect(gate.check("vocabulary") == nil && gate.warning("vocabulary") == nil)
    }

    @Test("says what the tracker has refused")
    func prompt() {
        let gate = FeatureGate(tracker: tracker, texts: ClientTexts(.english))
        guard case .refused(let restriction) = tracker.count("ai_summary") else {
            Issue.record("it was counted")
            return
        }
        #expect(gate.prompt(restriction, of: "ai_summary") == "Upgrade to Pro to use AI summaries.")
    }

    @Test("opens nothing and asks to go online before the catalog was ever read")
    func unread() {
        let gate = FeatureGate(tracker: device.launch(bundled: nil), texts: ClientTexts(.traditionalChinese))
        #expect(!gate.isOpen("ai_explain") && gate.warning("ai_explain") == nil)
        #expect(gate.checkAccess(feature: "ai_explain") == .restricted(.notKnown))
        #expect(gate.check("ai_explain") == "請先連線一次，以便讀取你的方案。")
    }
}
