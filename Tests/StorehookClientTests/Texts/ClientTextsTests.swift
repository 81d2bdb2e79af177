import Foundation
import Testing

@testable import StorehookClient

@Suite("A text of the client")
struct ClientTextsTests {
    private static let day = Date(timeIntervalSince1970: 1_800_000_000)
    private static let shanghai = TimeZone(secondsFromGMT: 8 * 3600) ?? .gmt

    @Test(
        "is in the first language of the reader that has texts",
        arguments: [
            (["en-GB"], ClientLanguage.english), (["de", "zh-TW"], .traditionalChinese),
            (["zh-HK", "en"], .traditionalChinese), (["zh-Hant-CN"], .traditionalChinese),
            (["zh"], .simplifiedChinese), (["zh-CN"], .simplifiedChinese), (["zh-Hans-HK"], .simplifiedChinese),
            (["zh_TW"], .traditionalChinese), (["yue-HK"], .traditionalChinese), (["de", "fr"], .english),
            ([], .english), ([""], .english), (["en", "zh-Hans"], .english),
        ])
    func language(_ preferred: [String], _ language: ClientLanguage) {
        #expect(ClientLanguage(preferred: preferred) == language)
        #expect(ClientTexts(preferred: preferred).language == language)
    }

    @Test("writes a day, a price, a number and a share as its language does")
    func formats() throws {
        let amount = try #require(Decimal(string: "1234.5"))
        let english = ClientTexts(preferred: ["en-US"], timeZone: Self.shanghai)
        #expect(english.date(Self.day) == "January 15, 2027")
        #expect(ClientTexts(preferred: ["en-GB"], timeZone: Self.shanghai).date(Self.day) == "15 January 2027")
        #expect(english.price(amount, currency: "USD") == "$1,234.50")
        #expect(english.number(12345) == "12,345")
        #expect(english.percent(0.409) == "41%")
        let simplified = ClientTexts(preferred: ["zh-Hans-CN"], timeZone: Self.shanghai)
        #expect(simplified.date(Self.day) == "2027年1月15日")
        #expect(simplified.dateAndTime(Self.day) == "2027年1月15日 16:00")
        #expect(simplified.price(amount, currency: "CNY") == "¥1,234.50")
        let traditional = ClientTexts(preferred: ["zh-TW"], timeZone: Self.shanghai)
        #expect(traditional.date(Self.day) == "2027年1月15日")
        #expect(traditional.price(amount, currency: "TWD") == "$1,234.50")
    }

    @Test("has its day in the reader's time zone")
    func timeZone() {
        // 2027-01-15T16:00:00Z is the next day in Shanghai.
        let late = Self.day + 8 * 3600
        #expect(ClientTexts(.simplifiedChinese, timeZone: .gmt).date(late) == "2027年1月15日")
        #expect(ClientTexts(.simplifiedChinese, timeZone: Self.shanghai).date(late) == "2027年1月16日")
    }

    @Test(
        "has the form for its number",
        arguments: [
            (Int64(0), "Your subscription ends in 0 days"), (1, "Your subscription ends in 1 day"),
            (2, "Your subscription ends in 2 days"), (1234, "Your subscription ends in 1,234 days"),
        ])
    func plural(_ count: Int64, _ text: String) {
        #expect(ClientTexts(.english)(.bannerEndsInDays, count: count) == text)
    }

    @Test("has the same form for every number in Chinese")
    func chinesePlural() {
        #expect(ClientTexts(.simplifiedChinese)(.bannerEndsInDays, count: 1) == "你的订阅将在 1 天后到期")
        #expect(ClientTexts(.traditionalChinese)(.bannerEndsInDays, count: 7) == "你的訂閱將於 7 天後到期")
    }

    @Test("keeps braces that a value brings, and names without a value")
    func braces() {
        let texts = ClientTexts(.english)
        #expect(texts(.gateTierRequired, ["tier": "{feature}", "feature": "AI"]) == "Upgrade to {feature} to use AI.")
        #expect(texts(.gateTierRequired, ["tier": "Pro"]) == "Upgrade to Pro to use {feature}.")
        #expect(TextForm.fill("a { b", with: [:]) == "a { b")
    }

    @Test("has a unit after its number, and in English none beside one")
    func amounts() {
        #expect(ClientTexts(.english).amount(5, unit: "times") == "5 times")
        #expect(ClientTexts(.english).amount(1, unit: "times") == "1")
        #expect(ClientTexts(.english).amount(5, unit: nil) == "5")
        #expect(ClientTexts(.simplifiedChinese).amount(5, unit: "次") == "5次")
        #expect(ClientTexts(.traditionalChinese).amount(1, unit: "次") == "1次")
    }

    @Test("is the app's own where the app replaces it, in that language")
    func replaced() {
        let texts = ClientTexts(preferred: ["zh-CN"], replacing: [.paywallTitle: "🎉 解锁 Readmigo {tier}"])
        #expect(texts(.paywallTitle, ["tier": "Pro"]) == "🎉 解锁 Readmigo Pro")
        #expect(texts(.restorePurchases) == "恢复购买")
    }

    @Test("is the word of the documents, where they have one")
    func documents() {
        let simplified = ClientTexts(.simplifiedChinese)
        let traditional = ClientTexts(.traditionalChinese)
        #expect(simplified(.restorePurchases) == "恢复购买")
        #expect(simplified(.privacyPolicy) == "隐私政策")
        #expect(simplified(.termsOfService) == "服务条款")
        #expect(simplified(.trialStartDays, count: 7) == "开始 7 天免费试用")
        #expect(simplified(.periodMonth) == "月度" && simplified(.periodYear) == "年度")
        #expect(simplified(.pricePerMonth, ["price": "¥18"]) == "¥18/月")
        #expect(simplified(.pricePerYear, ["price": "¥128"]) == "¥128/年")
        #expect(simplified(.pricePerDay, ["price": "¥0.27"]) == "仅需¥0.27/天")
        #expect(simplified(.contactSupport) == "联系支持")
        #expect(simplified(.restoreGuideTitle) == "恢复指南")
        #expect(simplified(.manageSubscription) == "管理订阅")
        #expect(simplified(.cellUnlimited) == "无限制" && simplified(.cellIncluded) == "开放")
        #expect(simplified(.cellPerDay, ["amount": "5次"]) == "5次/天")
        #expect(traditional(.renewNow) == "立即續訂")
        #expect(traditional(.restorePurchases) == "恢復購買")
    }
}
