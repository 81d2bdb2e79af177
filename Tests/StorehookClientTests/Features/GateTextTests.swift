import Foundation
import Testing

@testable import StorehookClient

@Suite("The gate's sentences")
struct GateTextTests {
    private static func prompt(
        _ feature: String, _ tier: String, used: Int64 = 0, _ language: ClientLanguage,
        _ rules: FeatureRules = SampleRules.readmigo
    ) -> String? {
        rules.access(to: feature, in: tier, used: used, resetsAt: nil).restriction.map {
            rules.prompt($0, of: feature, in: tier, ClientTexts(language))
        }
    }

    @Test("ask for the tier that has the feature")
    func tier() {
        #expect(Self.prompt("ai_summary", "free", .english) == "Upgrade to Pro to use AI summaries.")
        #expect(Self.prompt("advanced_ai", "pro", .simplifiedChinese) == "升级到Premium即可使用「Advanced AI」。")
        #expect(Self.prompt("advanced_ai", "pro", .traditionalChinese) == "升級到Premium即可使用「Advanced AI」。")
        #expect(Self.prompt("none_has_it", "free", .english) == "Nothing is not part of your plan.")
    }

    @Test("say of a limit of one that it is used")
    func one() {
        let rules = FeatureRules(
            tiers: [.init(id: "free", name: "Free", limits: ["export": .count(1, per: .day)])],
            features: [.init(id: "export", name: "Exports", unit: "export")])
        #expect(Self.prompt("export", "free", used: 1, .english, rules) == "Exports: the 1 of today is used.")
    }

    @Test("say what is used up in the day, month or in total, and what gives more")
    func limit() {
        #expect(
            Self.prompt("ai_explain", "free", used: 5, .english)
                == "AI word explanations: all 5 times of today are used. Upgrade to Pro for more.")
        #expect(
            Self.prompt("voice_chat", "pro", used: 30, .english)
                == "Voice chat: all 30 minutes of this month are used. Upgrade to Premium for more.")
        #expect(
            Self.prompt("vocabulary", "free", used: 50, .english)
                == "Saved words: all 50 words are used. Upgrade to Pro for more.")
        #expect(
            Self.prompt("bills", "free", used: 500, .simplifiedChinese, SampleRules.bills)
                == "「创建账单」的500条已用完，升级到Pro可获得更多。")
        #expect(
            Self.prompt("voice_chat", "pro", used: 31, .simplifiedChinese)
                == "「Voice chat」本月的30minutes已用完，升级到Premium可获得更多。")
        #expect(
            Self.prompt("voice_chat", "pro", used: 31, .traditionalChinese)
                == "「Voice chat」本月的30minutes已用完，升級到Premium可獲得更多。")
    }

    @Test("promise no more where the highest tier has a limit, too")
    func last() {
        let rules = FeatureRules(
            tiers: [
                .init(id: "free", name: "Free", limits: ["ai": .count(3, per: .day), "m": .count(2, per: .month)])
            ],
            features: [.init(id: "ai", name: "AI"), .init(id: "m", name: "M", unit: "minutes")])
        #expect(Self.prompt("ai", "free", used: 3, .english, rules) == "AI: all 3 of today are used.")
        #expect(Self.prompt("m", "free", used: 3, .english, rules) == "M: all 2 minutes of this month are used.")
        #expect(Self.prompt("ai", "free", used: 3, .traditionalChinese, rules) == "「AI」今天的3已用完。")
    }

    @Test("say that the app has to go online where the catalog was never read")
    func notKnown() {
        let none = FeatureRules(tiers: [], features: [])
        #expect(
            Self.prompt("ai", "free", .english, none) == "Go online once so that the app can read your plan.")
    }

    @Test(
        "warn before the limit: from nine tenths on, and before the last one",
        arguments: [
            ("bills", Int64(449), nil), ("bills", 450, "「创建账单」还剩50条。"), ("bills", 499, "「创建账单」还剩1条。"),
            ("bills", 500, nil), ("bills", 501, nil), ("statistics", 10, nil), ("cloud_sync", 1, nil),
            ("not_in_catalog", 1, nil),
        ] as [(String, Int64, String?)])
    func warning(_ feature: String, _ used: Int64, _ text: String?) {
        let texts = ClientTexts(.simplifiedChinese)
        #expect(
            SampleRules.bills.warning(of: feature, in: "free", used: used, from: 0.9, texts) == text, "\(used)")
        #expect(SampleRules.bills.warning(of: feature, in: "pro", used: used, from: 0.9, texts) == nil)
    }

    @Test("warn of a day and of a month, in the singular for one")
    func periods() {
        func warning(_ feature: String, _ tier: String, _ used: Int64) -> String? {
            SampleRules.readmigo.warning(of: feature, in: tier, used: used, from: 0.9, ClientTexts(.english))
        }
        #expect(warning("ai_explain", "free", 3) == nil)
        #expect(warning("ai_explain", "free", 4) == "AI word explanations: only 1 left today.")
        #expect(warning("voice_chat", "pro", 27) == "Voice chat: only 3 left this month.")
        #expect(warning("voice_chat", "pro", 0) == nil)
    }

    @Test("do not warn of the only one before any was used")
    func single() {
        let rules = FeatureRules(
            tiers: [.init(id: "free", name: "Free", limits: ["ai": .count(1, per: .day)])],
            features: [.init(id: "ai", name: "AI")])
        #expect(rules.warning(of: "ai", in: "free", used: 0, from: 0.9, ClientTexts(.english)) == nil)
    }
}
