import Foundation
import Testing

@testable import StorehookClient

@Suite("What a paywall shows")
struct PaywallContentTests {
    private static let chinese = ClientTexts(preferred: ["zh-Hans-CN"])
    private static let english = ClientTexts(preferred: ["en-US"])

    private static func offer(
        _ id: String, _ tier: String, _ period: PaywallPeriod?, _ price: Int?, popular: Bool = false,
        _ introduction: PaywallOffer.Introduction? = nil
    ) -> PaywallOffer {
        PaywallOffer(
            productID: id, name: id, tier: tier, tierName: tier == "pro" ? "Pro" : "Premium", period: period,
            periodName: nil, displayPrice: price.map { "¥\($0)" }, price: price.map { Decimal($0) }, currency: "CNY",
            displayPricePerDay: nil, introduction: introduction, ownTrialDays: nil, isPopular: popular)
    }

    /// The products of the Readmigo document.
    private static let readmigo = PaywallContent(
        offers: [
            offer("pro.monthly", "pro", .month, 18),
            offer("pro.yearly", "pro", .year, 128, .freeTrial(7, .day)),
            offer("premium.monthly", "premium", .month, nil),
            offer("premium.yearly", "premium", .year, 198, .freeTrial(1, .week)),
        ], rules: SampleRules.readmigo)

    @Test("chooses the year at first, and what the customer chooses after that")
    func preselected() {
        var content = Self.readmigo
        #expect(content.selected?.productID == "pro.yearly")
        content.choice = "premium.monthly"
        #expect(content.selected?.productID == "premium.monthly")
        #expect(content.options(Self.chinese).map(\.isSelected) == [false, false, true, false])
        content.choice = "gone"
        #expect(content.selected?.productID == "pro.yearly")
    }

    @Test("chooses a year that the catalog recommends before another, and without a year what it recommends")
    func recommended() {
        var content = Self.readmigo
        content.offers[3].isPopular = true
        #expect(content.selected?.productID == "premium.yearly")
        #expect(content.options(Self.chinese).map(\.popularTitle) == [nil, nil, nil, "最受欢迎"])
        content.offers = [Self.offer("a", "pro", .month, 1), Self.offer("b", "pro", .quarter, 2, popular: true)]
        #expect(content.selected?.productID == "b")
        content.offers[1].isPopular = false
        #expect(content.selected?.productID == "a")
        content.offers = []
        #expect(content.selected == nil && content.title(Self.english) == "Unlock everything")
    }

    @Test("chooses nothing at first that the account has already, where something else is for sale")
    func bought() {
        var content = Self.readmigo
        content.purchased = ["pro.yearly"]
        #expect(content.selected?.productID == "premium.yearly")
        content.offers = [Self.offer("pro.yearly", "pro", .year, 128)]
        #expect(content.selected?.productID == "pro.yearly")
        #expect(content.options(Self.chinese)[0].isCurrent)
        #expect(content.options(Self.chinese)[0].callToAction == "当前方案")
    }

    @Test("has each period with its price, its price a day, what it saves, and its trial")
    func options() {
        let options = Self.readmigo.options(Self.chinese)
        #expect(options.map(\.periodName) == ["月度", "年度", "月度", "年度"])
        #expect(options.map(\.price) == ["¥18/月", "¥128/年", nil, "¥198/年"])
        #expect(options.map(\.pricePerDay) == ["仅需¥0.60/天", "仅需¥0.35/天", nil, "仅需¥0.54/天"])
        #expect(options.map(\.saving) == [nil, "省41%", nil, nil])
        #expect(options.map(\.trial) == [nil, "开始 7 天免费试用", nil, "开始 1 周免费试用"])
        #expect(options.map(\.callToAction) == ["立即订阅", "开始 7 天免费试用", "立即订阅", "开始 1 周免费试用"])
        #expect(options[1].trialNotice == "试用结束后¥128/年。试用期内可随时取消，不产生任何费用")
        #expect(options[0].trialNotice == nil)
    }

    @Test("writes the prices a day of the EmoFlow document")
    func pricePerDay() {
        let monthly = Self.offer("monthly", "pro", .month, 12)
        let yearly = Self.offer("yearly", "pro", .year, 98)
        #expect(monthly.pricePerDayText(Self.chinese) == "¥0.40")
        #expect(yearly.pricePerDayText(Self.chinese) == "¥0.27")
        var stated = yearly
        stated.displayPricePerDay = "¥0.26"
        #expect(stated.pricePerDayText(Self.chinese) == "¥0.26")
        // A day of yen or of little money is nothing that can be written.
        var little = yearly
        little.price = Decimal(1)
        #expect(little.pricePerDayText(Self.chinese) == nil)
        #expect(Self.offer("for good", "pro", .lifetime, 98).pricePerDayText(Self.chinese) == nil)
    }

    @Test("has the catalog's own names of a product and its period")
    func named() {
        var offer = Self.offer("monthly", "pro", .month, 12)
        (offer.name, offer.periodName) = ("包月", "每月")
        let option = PaywallOption(offer, among: [], isSelected: false, isCurrent: false, Self.chinese)
        #expect(option.name == "包月" && option.periodName == "每月" && option.price == "¥12/月")
    }

    @Test("names every period, and how its price is written", arguments: PaywallPeriod.allCases)
    func periods(_ period: PaywallPeriod) {
        let option = PaywallOption(
            Self.offer("a", "pro", period, 5), among: [], isSelected: false, isCurrent: false, Self.english)
        let expected: (String, String, String) =
            switch period {
            case .week: ("Weekly", "¥5/week", "Subscribe")
            case .month: ("Monthly", "¥5/month", "Subscribe")
            case .twoMonths: ("Every 2 months", "¥5 every 2 months", "Subscribe")
            case .quarter: ("Quarterly", "¥5 every 3 months", "Subscribe")
            case .halfYear: ("Every 6 months", "¥5 every 6 months", "Subscribe")
            case .year: ("Yearly", "¥5/year", "Subscribe")
            case .lifetime: ("Lifetime", "¥5, paid once", "Buy")
            case .term: ("Fixed term", "¥5, paid once", "Buy")
            }
        #expect(option.periodName == expected.0 && option.price == expected.1 && option.callToAction == expected.2)
    }

    @Test("shows a product of a period that this release does not know")
    func unknownPeriod() {
        let option = PaywallOption(
            Self.offer("a", "pro", nil, 5), among: [], isSelected: false, isCurrent: false, Self.english)
        #expect(option.price == "¥5" && option.periodName == "a" && option.callToAction == "Subscribe")
    }

    @Test("saves against the shortest period of the same tier and currency alone")
    func saving() {
        let monthly = Self.offer("m", "pro", .month, 10)
        let yearly = Self.offer("y", "pro", .year, 60)
        #expect(yearly.saving(among: [monthly, yearly]) == 0.5)
        #expect(
            Self.offer("q", "pro", .quarter, 27).saving(among: [monthly, yearly]).map { Int($0 * 100 + 0.5) } == 10)
        #expect(monthly.saving(among: [monthly, yearly]) == nil)
        #expect(Self.offer("d", "pro", .year, 120).saving(among: [monthly]) == nil)
        #expect(Self.offer("o", "premium", .year, 60).saving(among: [monthly]) == nil)
        var dollars = yearly
        dollars.currency = "USD"
        #expect(dollars.saving(among: [monthly]) == nil)
        #expect(Self.offer("l", "pro", .lifetime, 5).saving(among: [monthly]) == nil)
    }

    @Test("offers what is paid at first, and the app's own trial, where there is no free one of Apple's")
    func introductions() {
        var offer = Self.offer("a", "pro", .month, 5, .payUpFront(price: "¥9", duration: "3 months"))
        #expect(offer.trialText(Self.english) == "¥9 for the first 3 months")
        offer.introduction = .payAsYouGo(price: "¥2", duration: "3 个月")
        #expect(offer.trialText(Self.chinese) == "前 3 个月每期仅需¥2")
        offer.introduction = nil
        offer.ownTrialDays = 7
        #expect(offer.trialText(Self.english) == "Try Pro free for 7 days")
        offer.ownTrialDays = 1
        #expect(offer.trialText(Self.english) == "Try Pro free for 1 day")
        #expect(offer.trialNotice(Self.english) == nil)
        offer.introduction = .freeTrial(1, .month)
        #expect(offer.trialText(Self.english) == "Start your 1-month free trial")
        offer.introduction = .freeTrial(2, .year)
        #expect(offer.trialText(Self.english) == "Start your 2-year free trial")
        offer.displayPrice = nil
        #expect(offer.trialNotice(Self.english) == "Cancel before the trial ends and you pay nothing")
    }

    @Test("has a title of the chosen tier, and what that gives and the account's does not")
    func highlights() {
        var content = Self.readmigo
        #expect(content.title(Self.chinese) == "解锁Pro")
        #expect(
            content.highlights(Self.english) == [
                "AI word explanations: 100 times a day", "AI summaries: 50 times a day",
                "Voice chat: 30 minutes a month", "Saved words: 1,000 words in total", "Spaced repetition",
                "Offline books: 10 books in total", "Reading statistics", "Vocabulary export",
            ])
        content.choice = "premium.yearly"
        content.tier = "pro"
        #expect(
            content.highlights(Self.chinese) == [
                "AI word explanations：无限制", "AI summaries：无限制", "Advanced AI", "Voice chat：无限制", "Video chat",
                "Saved words：无限制", "Offline books：无限制",
            ])
    }
}
