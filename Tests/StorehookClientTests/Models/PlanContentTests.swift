import Foundation
import Testing

@testable import StorehookClient

@Suite("What screens say of a plan")
struct PlanContentTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)  // 2027-01-15T08:00:00Z
    private static let english = ClientTexts(preferred: ["en-US"], timeZone: .gmt)
    private static let simplified = ClientTexts(.simplifiedChinese, timeZone: .gmt)
    private static let traditional = ClientTexts(.traditionalChinese, timeZone: .gmt)

    private static func facts(
        _ status: PlanStatus?, allowed: Bool = true, endsIn seconds: TimeInterval? = 3 * 86_400, renews: Bool? = false,
        soon: Bool = true
    ) -> PlanFacts {
        PlanFacts(
            status: status, tierName: "Pro", isAllowed: allowed, endsAt: seconds.map { now + $0 }, willRenew: renews,
            transactionID: "1000000123456789", isEndingSoon: soon)
    }

    // MARK: Banner

    @Test(
        "A banner counts the midnights until access ends",
        arguments: [
            (TimeInterval(60), "Your subscription ends today"), (57_240, "Your subscription ends today"),
            (57_960, "Your subscription ends in 1 day"), (561_600, "Your subscription ends in 6 days"),
            (604_800, "Your subscription ends in 7 days"),
        ] as [(TimeInterval, String)])
    func bannerDays(_ seconds: TimeInterval, _ text: String) {
        let banner = RenewalBanner(Self.facts(.cancelled, endsIn: seconds), at: Self.now, Self.english)
        #expect(banner?.text == text && banner?.reason == .ending && banner?.action == "Renew")
        #expect(banner?.endsAt == Self.now + seconds)
    }

    @Test("A banner counts midnights in the reader's time zone")
    func bannerZone() throws {
        // 08:00 in UTC is 22:00 in Honolulu: three hours later is the next day there.
        let zone = try #require(TimeZone(identifier: "Pacific/Honolulu"))
        let texts = ClientTexts(.english, timeZone: zone)
        let facts = Self.facts(.cancelled, endsIn: 3 * 3600)
        #expect(RenewalBanner(facts, at: Self.now, texts)?.text == "Your subscription ends in 1 day")
        #expect(RenewalBanner(facts, at: Self.now, Self.english)?.text == "Your subscription ends today")
    }

    @Test("A banner asks a customer on trial to subscribe, and after a failed charge to change the payment method")
    func bannerReasons() {
        let trial = RenewalBanner(Self.facts(.trial), at: Self.now, Self.simplified)
        #expect(trial?.text == "你的试用将在 3 天后结束" && trial?.action == "订阅" && trial?.reason == .trialEnding)
        let grace = RenewalBanner(Self.facts(.gracePeriod, soon: false), at: Self.now, Self.traditional)
        #expect(grace?.text == "扣款失敗，請更新付款方式以繼續使用" && grace?.action == "更新付款方式")
        #expect(grace?.reason == .paymentFailed)
    }

    @Test("There is no banner while access goes on by itself, has no end, or is over")
    func noBanner() {
        for facts in [
            Self.facts(.active, soon: false), Self.facts(.active, endsIn: nil),
            Self.facts(.expired, allowed: false), Self.facts(.gracePeriod, allowed: false), PlanFacts(),
        ] {
            #expect(RenewalBanner(facts, at: Self.now, Self.english) == nil)
        }
    }

    // MARK: Expired

    @Test("The screen of an ended subscription has its title, its date, and that nothing is lost")
    func expired() {
        let facts = Self.facts(.expired, allowed: false, endsIn: -86_400)
        let english = ExpiredContent(facts, Self.english)
        #expect(english?.title == "Your subscription has expired")
        #expect(english?.message == "Renew to go on. Your data is kept")
        #expect(english?.expiredOn == "Expired on January 14, 2027")
        let traditional = ExpiredContent(facts, Self.traditional)
        #expect(traditional?.title == "訂閱已過期" && traditional?.expiredOn == "到期日期：2027年1月14日")
        #expect(ExpiredContent(facts, Self.simplified)?.message == "请续订以继续使用，你的数据不会丢失")
        #expect(ExpiredContent(Self.facts(.expired, allowed: false, endsIn: nil), Self.english)?.expiredOn == nil)
    }

    @Test("The screen says of a trial and of a revoked purchase what they were")
    func otherEnds() {
        #expect(
            ExpiredContent(Self.facts(.trialExpired, allowed: false), Self.english)?.title == "Your trial has ended")
        let revoked = ExpiredContent(Self.facts(.revoked, allowed: false), Self.english)
        #expect(revoked?.title == "Your purchase was revoked")
        #expect(revoked?.message == "Access ended with the refund or revocation. Your data is kept")
        // A billing retry, a cached cancelled one whose end is over, and a word of a later release: all are over.
        for status in [PlanStatus.billingRetry, .cancelled, .unknown] {
            #expect(
                ExpiredContent(Self.facts(status, allowed: false), Self.english)?.title
                    == "Your subscription has expired")
        }
    }

    @Test("The screen is not shown while access goes on, and not to a free user who never had any")
    func notExpired() {
        #expect(ExpiredContent(Self.facts(.active), Self.english) == nil)
        #expect(ExpiredContent(Self.facts(.free, allowed: false), Self.english) == nil)
        #expect(ExpiredContent(PlanFacts(), Self.english) == nil)
    }

    // MARK: Status

    @Test(
        "The plan's card says until when",
        arguments: [
            (facts(.active, renews: true), "Renews on January 18, 2027"),
            (facts(.cancelled, renews: false), "Ends on January 18, 2027"),
            (facts(.active, renews: nil), "Ends on January 18, 2027"),
            (facts(.trial, renews: false), "Trial until January 18, 2027"),
            (facts(.trial, renews: true), "Renews on January 18, 2027"),
            (facts(.gracePeriod, renews: true), "Payment failed. Access goes on until January 18, 2027"),
            (facts(.expired, allowed: false, endsIn: -86_400), "Ended on January 14, 2027"),
            (facts(.unknown, renews: true), "Renews on January 18, 2027"), (facts(.active, endsIn: nil), nil),
        ] as [(PlanFacts, String?)])
    func term(_ facts: PlanFacts, _ text: String?) {
        #expect(PlanCard(facts, Self.english).term == text)
    }

    @Test("The plan's card has the tier, the status, and whether it is a kept one")
    func card() {
        var facts = Self.facts(.active, endsIn: nil)
        facts.isOnce = true
        facts.isFromCache = true
        let card = PlanCard(facts, Self.simplified)
        #expect(card.plan == "Pro" && card.status == "有效" && card.term == "永久有效" && card.title == "当前计划")
        #expect(card.note == "当前离线，显示的是上次的状态")
        facts.displayStatus = "有效（服务器）"
        facts.isFromCache = false
        #expect(PlanCard(facts, Self.simplified).status == "有效（服务器）")
        #expect(PlanCard(facts, Self.simplified).note == nil)
        let free = PlanCard(PlanFacts(), Self.traditional)
        #expect(free.plan == "免費版" && free.status == "免費" && free.term == nil)
    }

    @Test(
        "Each status has its text in each language",
        arguments: [
            (PlanStatus.active, "Active", "有效", "有效"), (.trial, "Trial", "试用中", "試用中"),
            (.cancelled, "Cancelled, active until it ends", "已取消，到期前有效", "已取消，到期前有效"),
            (.gracePeriod, "Payment failed, still active", "扣费失败，宽限期内有效", "扣款失敗，寬限期內有效"),
            (.billingRetry, "Payment failed, no access", "扣费失败，已停用", "扣款失敗，已停用"),
            (.expired, "Expired", "已过期", "已過期"), (.trialExpired, "Trial expired", "试用已过期", "試用已過期"),
            (.revoked, "Revoked", "已撤销", "已撤銷"), (.free, "Free", "免费", "免費"),
            (.unknown, "Update the app to see this status", "请更新 App 以查看此状态", "請更新 App 以查看此狀態"),
        ])
    func statuses(_ status: PlanStatus, _ english: String, _ simplified: String, _ traditional: String) {
        #expect(Self.english(status.key) == english)
        #expect(Self.simplified(status.key) == simplified)
        #expect(Self.traditional(status.key) == traditional)
    }

    @Test("The details have the end date, the renewal and the transaction id")
    func details() {
        let details = PlanDetail.all(Self.facts(.active, renews: true), Self.simplified)
        #expect(details.map(\.id) == [.endDate, .renewal, .transaction])
        #expect(details.map(\.title) == ["到期日", "续费状态", "交易 ID"])
        #expect(details.map(\.value) == ["2027年1月18日", "自动续订已开启", "1000000123456789"])
        #expect(PlanDetail.all(Self.facts(.cancelled), Self.traditional)[1].value == "自動續訂已關閉")
        #expect(
            PlanDetail.all(Self.facts(.active, renews: nil), Self.english)[1].value == "Shown once the app is online")
        var lifetime = Self.facts(.active, endsIn: nil, renews: nil)
        lifetime.isOnce = true
        #expect(
            PlanDetail.all(lifetime, Self.english).map(\.value).prefix(2) == ["Yours for good", "Nothing to renew"])
        #expect(PlanDetail.all(Self.facts(.free, allowed: false), Self.english).isEmpty)
        #expect(PlanDetail.all(PlanFacts(), Self.english).isEmpty)
    }

    @Test("The bars have what the tier counts, as full as it is")
    func bars() {
        let lines = [
            "ai_explain": UsageLine(feature: "ai_explain", period: .day, used: 3, resetsAt: Self.now + 3600),
            "vocabulary": UsageLine(feature: "vocabulary", period: .total, used: 70, resetsAt: nil),
        ]
        let bars = UsageBar.all(SampleRules.readmigo, tier: "free", use: { lines[$0] }, Self.english)
        #expect(bars.map(\.id) == ["ai_explain", "vocabulary"])
        #expect(bars.map(\.text) == ["3 of 5 times", "70 of 50 words"])
        #expect(bars.map(\.share) == [0.6, 1])
        #expect(bars.map(\.limit) == [5, 50])
        #expect(bars[0].resetsAt == "Resets Jan 15, 2027 at 9:00\u{202F}AM" && bars[1].resetsAt == nil)
        let chinese = UsageBar.all(SampleRules.bills, tier: nil, use: { _ in nil }, Self.simplified)
        #expect(chinese.map(\.text) == ["0/500条"])
    }

    @Test("The locked features are those that a higher tier gives")
    func locked() {
        let free = LockedFeature.all(SampleRules.readmigo, tier: nil, Self.english)
        #expect(
            free.map(\.id) == [
                "ai_summary", "advanced_ai", "voice_chat", "video_chat", "spaced_repetition", "offline_books",
                "reading_statistics", "vocabulary_export",
            ])
        #expect(free[0].text == "Included in Pro" && free[1].text == "Included in Premium" && free[1].tier == "premium")
        #expect(
            LockedFeature.all(SampleRules.readmigo, tier: "pro", Self.english).map(\.id) == [
                "advanced_ai", "video_chat",
            ])
        #expect(LockedFeature.all(SampleRules.readmigo, tier: "premium", Self.english).isEmpty)
        #expect(
            LockedFeature.all(SampleRules.bills, tier: nil, Self.traditional).map(\.text) == [
                "升級到Pro即可解鎖", "升級到Pro即可解鎖", "升級到Pro即可解鎖",
            ])
    }
}
