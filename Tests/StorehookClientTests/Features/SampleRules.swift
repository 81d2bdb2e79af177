@testable import StorehookClient

/// The matrices of two documents, as rules.
enum SampleRules {
    /// Three tiers and what the Readmigo document gives them, with one feature more that is counted only, and one that no tier has.
    static let readmigo = FeatureRules(
        tiers: [
            tier("free", "Free") { $0.1 }, tier("pro", "Pro") { $0.2 }, tier("premium", "Premium") { $0.3 },
        ], features: matrix.map { $0.0 })

    /// A free tier with 500 bills and a paid one, of the architecture document.
    static let bills = FeatureRules(
        tiers: [
            .init(
                id: "free", name: "免费版",
                limits: [
                    "bills": .count(500, per: .total), "statistics": .open, "categories": .open, "owners": .open,
                    "payment_methods": .open, "cloud_sync": .closed, "export": .closed, "export_database": .closed,
                ]),
            .init(
                id: "pro", name: "Pro",
                limits: [
                    "bills": .unlimited, "statistics": .open, "categories": .open, "owners": .open,
                    "payment_methods": .open, "cloud_sync": .open, "export": .open, "export_database": .open,
                ]),
        ],
        features: [
            .init(id: "bills", name: "创建账单", unit: "条"), .init(id: "statistics", name: "查看统计"),
            .init(id: "categories", name: "管理分类"), .init(id: "owners", name: "管理归属人"),
            .init(id: "payment_methods", name: "管理支付方式"), .init(id: "cloud_sync", name: "云同步"),
            .init(id: "export", name: "导出 CSV"), .init(id: "export_database", name: "导出数据库"),
        ])

    private typealias Row = (FeatureRules.Feature, FeatureLimit, FeatureLimit, FeatureLimit)

    private static let matrix: [Row] = [
        (
            .init(id: "ai_explain", name: "AI word explanations", unit: "times"), .count(5, per: .day),
            .count(100, per: .day), .unlimited
        ),
        (
            .init(id: "ai_summary", name: "AI summaries", unit: "times"), .closed, .count(50, per: .day), .unlimited
        ),
        (.init(id: "advanced_ai", name: "Advanced AI"), .closed, .closed, .open),
        (
            .init(id: "voice_chat", name: "Voice chat", unit: "minutes"), .closed, .count(30, per: .month), .unlimited
        ),
        (.init(id: "video_chat", name: "Video chat"), .closed, .closed, .open),
        (
            .init(id: "vocabulary", name: "Saved words", unit: "words"), .count(50, per: .total),
            .count(1000, per: .total), .unlimited
        ),
        (.init(id: "spaced_repetition", name: "Spaced repetition"), .closed, .open, .open),
        (
            .init(id: "offline_books", name: "Offline books", unit: "books"), .count(0, per: .total),
            .count(10, per: .total), .unlimited
        ),
        (.init(id: "reading_statistics", name: "Reading statistics"), .closed, .open, .open),
        (.init(id: "vocabulary_export", name: "Vocabulary export"), .closed, .open, .open),
        (.init(id: "books_read", name: "Books read", unit: "books"), .unlimited, .unlimited, .unlimited),
        (.init(id: "none_has_it", name: "Nothing"), .closed, .closed, .closed),
    ]

    private static func tier(_ id: String, _ name: String, _ limit: (Row) -> FeatureLimit) -> FeatureRules.Tier {
        .init(id: id, name: name, limits: Dictionary(uniqueKeysWithValues: matrix.map { ($0.0.id, limit($0)) }))
    }
}
