import APIKit
import Accounts
import AppStorePayloads
import Base

/// `GET /v1/features`, `GET /v1/features/{feature}` and `GET /v1/usage/current`.
enum FeatureAnswer {
    /// One feature.
    static let shape = AccountShape<FeatureView>(
        "Feature",
        [
            .init("feature") { $0.feature.id },
            .read("name") { $1.text($0.feature.names) },
            .read("unit", "What is counted.") { $1.text($0.feature.units) },
            .init("allowed") { $0.restriction == nil },
            .init("reason", "Why not.") { $0.restriction },
            .read("requiredTier", "The lowest tier that gives more, where it is not allowed.") {
                $0.requiredTier(in: $1.catalog)
            },
            .read(
                "upgradePrompt",
                "What to show where it is not allowed and a higher tier gives more, in the language asked for: English, zh-Hans or zh-Hant."
            ) { $0.upgradePrompt(for: $1) },
            .init("tier", "The account's.") { $0.tier },
            .init("isUnlimited") { $0.limit.isUnlimited },
            .init("limit", "How much in a period; null where there is no limit.") { $0.most },
            .init("used", "How much was used in this period; null where it is not counted.") {
                $0.window == nil ? nil : $0.used
            },
            .init("remaining") { $0.remaining },
            .init("period", "What is counted over.") { $0.window?.period },
            .init("resetsAt", "When counting begins anew; null where it never does.") { $0.window?.resetsAt },
        ])

    /// All features.
    static let list = AccountShape<(tier: String, features: [FeatureView])>(
        "FeatureList",
        [
            .init("tier") { $0.tier },
            .read("tierName") { $1.name(ofTier: $0.tier) },
            .list("features", shape, about: "In the catalog's order.") { $0.features },
        ])

    /// What is counted, with how much was used.
    static let usage = AccountShape<(tier: String, features: [FeatureView])>(
        "CurrentUsage",
        [
            .init("tier") { $0.tier },
            .list("usage", shape, about: "The features that are counted, in the catalog's order.") {
                $0.features.filter { $0.window != nil }
            },
        ])
}

extension Catalog.UsagePeriod: NamedWords {}
extension Catalog.Period: NamedWords {
    package static let schemaName = "ProductPeriod"
}
