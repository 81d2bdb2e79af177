import Foundation
import Testing

@testable import StorehookClient

@Suite("The models of the plan and of its end", .timeLimit(.minutes(5)))
@MainActor
struct PlanModelTests {
    private let plan = FakePlan()
    private let english = ClientTexts(preferred: ["en-US"], timeZone: .gmt)

    private func facts(_ status: PlanStatus, allowed: Bool, renews: Bool? = false, days: Double = 3) -> PlanFacts {
        PlanFacts(
            status: status, tierName: "Pro", isAllowed: allowed, endsAt: plan.now + days * 86_400, willRenew: renews,
            transactionID: "42", isEndingSoon: allowed && renews == false)
    }

    @Test("The plan's screen of a free user has bars, locked features, and a way up, and nothing to manage")
    func free() {
        plan.offers = FakePlan.offers
        plan.facts = PlanFacts(status: .free)
        plan.uses = ["ai_explain": UsageLine(feature: "ai_explain", period: .day, used: 5, resetsAt: nil)]
        let snapshot = SubscriptionStatusModel(plan, texts: english, links: AppLinks()).snapshot
        #expect(snapshot.card.plan == "Free plan" && snapshot.details.isEmpty && snapshot.manage == nil)
        #expect(snapshot.usage.map(\.text) == ["5 of 5 times", "0 of 50 words"] && snapshot.usage[0].share == 1)
        #expect(snapshot.locked.count == 8 && snapshot.upgradeTitle == "Upgrade" && snapshot.banner == nil)
        #expect(snapshot.usageTitle == "Usage" && snapshot.lockedTitle == "Locked features")
    }

    @Test("The plan's screen of a subscriber has details and the way to manage it")
    func subscriber() {
        plan.offers = FakePlan.offers
        plan.offers.tier = "premium"
        plan.facts = facts(.active, allowed: true, renews: true, days: 20)
        let snapshot = SubscriptionStatusModel(plan, texts: english, links: AppLinks()).snapshot
        #expect(snapshot.card.plan == "Pro" && snapshot.details.count == 3 && snapshot.detailsTitle == "Details")
        #expect(snapshot.manage?.title == "Manage subscription")
        #expect(snapshot.manage?.url?.absoluteString == "https://apps.apple.com/account/subscriptions")
        #expect(snapshot.locked.isEmpty && snapshot.upgradeTitle == nil && snapshot.banner == nil)
    }

    @Test("The plan's screen has the banner while access ends soon, and changes with the plan")
    func changes() async {
        let model = SubscriptionStatusModel(plan, texts: english, links: AppLinks())
        #expect(model.snapshot.banner == nil)
        plan.facts = facts(.cancelled, allowed: true)
        for await snapshot in model.snapshots where snapshot.banner != nil { break }
        #expect(model.snapshot.banner?.text == "Your subscription ends in 3 days")
    }

    @Test("The screen of the end is shown once access has ended, and goes when it is back")
    func expired() async {
        let model = ExpiredModel(plan, texts: ClientTexts(.traditionalChinese, timeZone: .gmt))
        #expect(!model.snapshot.isExpired)
        plan.facts = facts(.expired, allowed: false, days: -1)
        for await snapshot in model.snapshots where snapshot.isExpired { break }
        #expect(model.snapshot.title == "訂閱已過期" && model.snapshot.expiredOn == "到期日期：2027年1月14日")
        #expect(model.snapshot.renewTitle == "立即續訂" && model.snapshot.restoreTitle == "恢復購買")
        plan.facts = facts(.active, allowed: true)
        for await snapshot in model.snapshots where !snapshot.isExpired { break }
    }

    @Test("The screen of the end restores once, and says what it did not find")
    func restores() async {
        let gate = Gate()
        plan.gate = gate
        plan.facts = facts(.expired, allowed: false, days: -1)
        let model = ExpiredModel(plan, texts: english)
        let restoring = Task { await model.restore() }
        await gate.arrived()
        #expect(model.snapshot.isRestoring)
        await model.restore()
        await gate.open()
        await restoring.value
        #expect(plan.calls == ["restore"] && !model.snapshot.isRestoring)
        #expect(model.snapshot.problem?.text == "No subscription was found for this Apple Account")
        #expect(model.snapshot.problem?.action == .contactSupport)
        #expect(model.snapshot.problem?.title == "Your purchases could not be restored")
        let message = ClientMessage("Off", .retry, english)
        for (end, problem) in [(RestoreEnd.failed(message), message), (.cancelled, nil), (.restored(1), nil)] {
            plan.restoreEnd = end
            await model.restore()
            #expect(model.snapshot.problem == problem)
        }
    }
}
