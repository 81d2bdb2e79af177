import Foundation
import Testing

@testable import StorehookClient

@Suite("The model of restoring", .timeLimit(.minutes(5)))
@MainActor
struct RestoreModelTests {
    private let plan = FakePlan()

    private func model(_ language: ClientLanguage = .english) -> RestoreModel {
        RestoreModel(
            plan, texts: ClientTexts(language), links: AppLinks(support: URL(string: "mailto:help@example.com")))
    }

    @Test("is idle at first, with a guide and a way to support")
    func idle() {
        let snapshot = model(.simplifiedChinese).snapshot
        #expect(snapshot.state == .idle && snapshot.title == "恢复购买" && snapshot.text == "找回你之前的购买")
        #expect(snapshot.action == "恢复购买" && snapshot.canRestore)
        #expect(snapshot.guideTitle == "恢复指南" && snapshot.guide.count == 4)
        for use in ["重新安装 App", "更换设备", "订阅状态不同步"] { #expect(snapshot.guide[0].contains(use)) }
        #expect(snapshot.support.title == "联系支持" && snapshot.support.url?.scheme == "mailto")
        #expect(model(.traditionalChinese).snapshot.support.title == "聯絡客服")
        #expect(plan.calls.isEmpty)
    }

    @Test("is restoring while the store and the server are asked, and asks once")
    func restoring() async {
        let gate = Gate()
        plan.gate = gate
        plan.restoreEnd = .restored(2)
        let model = model()
        let restoring = Task { await model.restore() }
        await gate.arrived()
        #expect(model.snapshot.state == .restoring && !model.snapshot.canRestore)
        #expect(model.snapshot.text == "Restoring your purchases…")
        await model.restore()
        await gate.open()
        await restoring.value
        #expect(plan.calls == ["restore"])
        #expect(model.snapshot.state == .success(2) && model.snapshot.text == "2 purchases were restored")
    }

    @Test(
        "ends in success, in an error, with nothing, or as before",
        arguments: [
            (RestoreEnd.restored(1), RestoreSnapshot.State.success(1), "1 purchase was restored"),
            (.nothing, .noSubscriptions, "No subscription was found for this Apple Account"),
            (.cancelled, .idle, "Bring back what you have bought"),
        ])
    func ends(_ end: RestoreEnd, _ state: RestoreSnapshot.State, _ text: String) async {
        plan.restoreEnd = end
        let model = model()
        await model.restore()
        #expect(model.snapshot.state == state && model.snapshot.text == text && model.snapshot.canRestore)
    }

    @Test("has the error's own button, and may be tried again")
    func error() async {
        let message = ClientMessage("No connection", .retry, ClientTexts(.english))
        plan.restoreEnd = .failed(message)
        let model = model()
        await model.restore()
        #expect(model.snapshot.state == .error(message) && model.snapshot.text == "No connection")
        #expect(model.snapshot.action == "Try again" && model.snapshot.canRestore)
        plan.restoreEnd = .restored(1)
        await model.restore()
        #expect(model.snapshot.state == .success(1))
    }
}
