import Accounts
import Base
import Foundation
import Testing

@Suite("The example catalogs")
struct ExampleTests {
    @Test("are all of deploy/catalogs, and nothing is to be said about any")
    func clean() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Example.directory.path)
            .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
        #expect(Set(files) == Set(Example.allCases.map(\.rawValue)))
        for example in Example.allCases {
            let (catalog, findings) = Catalog.check(yaml: try example.text())
            #expect(catalog != nil && findings.isEmpty, "\(example): \(findings)")
        }
    }

    /// The matrix of the system that has three tiers, line by line.
    private static let matrix: [(id: String, name: String, limits: [Catalog.Limit])] = [
        ("ai_explain", "AI 单词解释", [.count(5, per: .day), .count(100, per: .day), .unlimited]),
        ("ai_summary", "AI 文章总结", [.no, .count(50, per: .day), .unlimited]),
        ("advanced_ai", "高级AI (GPT-4/Claude)", [.no, .no, .yes]),
        ("voice_chat", "语音对话", [.no, .count(30, per: .month), .unlimited]),
        ("video_chat", "视频对话", [.no, .no, .yes]),
        ("vocabulary", "词汇保存数量", [.count(50, per: .total), .count(1000, per: .total), .unlimited]),
        ("spaced_repetition", "间隔重复学习", [.no, .yes, .yes]),
        ("offline_books", "离线书籍下载", [.count(0, per: .total), .count(10, per: .total), .unlimited]),
        ("reading_statistics", "阅读统计", [.no, .yes, .yes]),
        ("vocabulary_export", "词汇导出", [.no, .yes, .yes]),
        // In the list of what its app counts, beside four of the above.
        ("books_read", "已读书籍", [.unlimited, .unlimited, .unlimited]),
    ]

    @Test(
        "with three tiers give each of the ten features as the document's matrix does, and count books that were read")
    func matrix() throws {
        let catalog = try Example.tiersAndLimits.catalog()
        #expect(catalog.tiers.map(\.id) == ["free", "pro", "premium"])
        #expect(catalog.features.map(\.id) == Self.matrix.map(\.id))
        for (id, name, limits) in Self.matrix {
            let feature = try #require(catalog.feature(id))
            #expect(feature.names?[["zh-CN"]] == name)
            #expect(catalog.tiers.map { feature.limit(in: $0.id) } == limits, "\(id)")
        }
        let voice = try #require(catalog.feature(named: "voice-chat"))
        #expect(voice.id == "voice_chat" && voice.units?[["zh"]] == "分钟")
        #expect(catalog.feature(named: "ai")?.id == "ai_explain")
        let books = try #require(catalog.feature(named: "books-read"))
        #expect(books.id == "books_read" && books.units?[["zh"]] == "本")
        #expect(catalog.feature(named: "ai_summary")?.id == "ai_summary" && catalog.feature(named: "x") == nil)
    }

    @Test("with three tiers count by day, by month and in total as the document resets them, without a limit too")
    func counting() throws {
        let catalog = try Example.tiersAndLimits.catalog()
        func counted(_ tier: String) -> [String] {
            catalog.counted(in: tier).map { "\($0.id) \($0.period) \($0.limit.map(String.init) ?? "-")" }
        }
        #expect(
            counted("free") == [
                "ai_explain day 5", "vocabulary total 50", "offline_books total 0", "books_read total -",
            ])
        #expect(
            counted("pro") == [
                "ai_explain day 100", "ai_summary day 50", "voice_chat month 30", "vocabulary total 1000",
                "offline_books total 10", "books_read total -",
            ])
        #expect(
            counted("premium") == [
                "ai_explain day -", "ai_summary day -", "voice_chat month -", "vocabulary total -",
                "offline_books total -", "books_read total -",
            ])
        #expect(catalog.timeZone.identifier == "Asia/Shanghai" && catalog.warningDays == 7)
    }

    private static let sevenDays = Catalog.IntroductoryOffer(.freeTrial, for: .init(7, .day))

    @Test("with three tiers sell the document's four products, and offer seven days of PRO with the yearly one")
    func products() throws {
        let catalog = try Example.tiersAndLimits.catalog()
        #expect(
            catalog.productsToShow().map(\.productID) == [
                "com.readmigo.pro.monthly", "com.readmigo.pro.yearly", "com.readmigo.premium.monthly",
                "com.readmigo.premium.yearly",
            ])
        #expect(catalog.products.map(\.tier) == ["pro", "pro", "premium", "premium"])
        #expect(catalog.products.map(\.period) == [.month, .year, .month, .year])
        #expect(catalog.products.map(\.price) == [18_000, 128_000, nil, 198_000])
        #expect(catalog.products.compactMap(\.currency) == ["CNY", "CNY", "CNY"])
        #expect(catalog.trial == Catalog.Trial(tier: "pro", days: 7, products: ["pro-yearly"]))
        #expect(catalog.products.filter(catalog.offersTrial).map(\.id) == ["pro-yearly"])
        #expect(catalog.products.map(\.introductory) == [nil, Self.sevenDays, nil, Self.sevenDays])
        let product = try #require(catalog.product("com.readmigo.pro.yearly", of: "com.readmigo.app"))
        #expect(product.id == "pro-yearly" && catalog.product(id: "pro-yearly") == product)
        #expect(catalog.product("com.readmigo.pro.yearly", of: "com.example.app") == nil)
        #expect(catalog.free.id == "free" && catalog.rank(of: "premium") == 2 && catalog.rank(of: "gold") == nil)
    }

    @Test("with a lifetime purchase give 500 bills without one, and what the bill app's document lists")
    func bills() throws {
        let catalog = try Example.freeAndLifetime.catalog()
        #expect(catalog.products.map(\.period) == [.year, .lifetime])
        #expect(catalog.products.allSatisfy { $0.tier == "pro" && $0.pricePerDay() == nil && $0.introductory == nil })
        let limits = catalog.features.map { feature in catalog.tiers.map { feature.limit(in: $0.id).description } }
        #expect(
            limits == [
                ["500 in total", "unlimited"], ["yes", "yes"], ["yes", "yes"], ["yes", "yes"], ["yes", "yes"],
                ["no", "yes"], ["no", "yes"], ["no", "yes"],
            ])
        #expect(
            catalog.features.map { $0.names?[["zh-Hans"]] } == [
                "创建账单", "查看统计", "管理分类", "管理归属人", "管理支付方式", "云同步", "导出 CSV", "导出数据库",
            ])
        #expect(catalog.counted(in: "free") == [CountedFeature(id: "bills", period: .total, limit: 500)])
        #expect(catalog.counted(in: "pro") == [CountedFeature(id: "bills", period: .total, limit: nil)])
    }

    @Test("in three lengths sell by the month, the quarter and the year")
    func lengths() throws {
        let catalog = try Example.monthlyQuarterlyYearly.catalog()
        #expect(catalog.products.map(\.id) == ["monthly", "quarterly", "yearly"])
        #expect(catalog.products.map(\.productID) == catalog.products.map { "com.yourcompany.app.\($0.id)" })
        #expect(catalog.products.map(\.period) == [.month, .quarter, .year])
        #expect(catalog.trial == nil && catalog.features.isEmpty && catalog.timeZone == .gmt)
        #expect(catalog.products.map(\.introductory) == [Self.sevenDays, Self.sevenDays, Self.sevenDays])
    }

    @Test("of a membership have the paywall's names, prices and prices a day as the document shows them")
    func paywall() throws {
        let catalog = try Example.monthAndYear.catalog()
        let chinese = ["zh-CN", "zh"]
        let shown = catalog.productsToShow(of: "com.yztao92.EmoFlow").map { product in
            [
                product.id, product.names?[chinese], product.priceTexts?[chinese], product.periodNames?[chinese],
                product.productID, "\(product.pricePerDay() ?? 0)", "\(product.isPopular)", "\(product.sortOrder)",
            ]
        }
        #expect(
            shown == [
                [
                    "monthly", "包月", "¥12", "每月", "com.yztao92.EmoFlow.subscription.monthly", "400", "false", "1",
                ],
                [
                    "yearly", "包年", "¥98.00", "每年", "com.yztao92.EmoFlow.subscription.yearly", "270", "true", "2",
                ],
            ])
        #expect(catalog.productsToShow(of: "com.example.app").isEmpty)
        #expect(catalog.products.map { $0.names?[["en-GB"]] } == ["Monthly", "Yearly"])
    }
}
