import APIKit
import Accounts
import AppStorePayloads
import Base

/// `GET /v1/features`, `GET /v1/features/{feature}` and `GET /v1/usage/current`.
enum FeatureAnswer {
    static let periods = APISchema.choice(Catalog.UsagePeriod.allCases.map(\.rawValue))

    /// One feature.
    static let shape = AccountShape<FeaturePicture>(
        "Feature",
        [
            .init("feature", .text) { .string($0.feature.id) },
            .read("name", .nullable(.text)) { $1.text($0.feature.names) },
            .read("unit", .nullable(.text), "What is counted.") { $1.text($0.feature.units) },
            .init("allowed", .boolean) { .bool($0.restriction == nil) },
            .init("reason", .nullable(.choice(FeaturePicture.Restriction.allCases.map(\.rawValue))), "Why not.") {
                .text($0.restriction?.rawValue)
            },
            .read("requiredTier", .nullable(.text), "The lowest tier that gives more, where it is not allowed.") {
                .text($0.requiredTier(in: $1.catalog))
            },
            .init("tier", .text, "The account's.") { .string($0.tier) },
            .init("isUnlimited", .boolean) { .bool($0.limit == .unlimited || $0.limit == .yes) },
            .init("limit", .nullable(.integer()), "How much in a period; null where there is no limit.") {
                $0.most.map { .integer($0) } ?? .null
            },
            .init("used", .nullable(.integer()), "How much was used in this period; null where nobody counts.") {
                $0.window == nil ? .null : .integer($0.used)
            },
            .init("remaining", .nullable(.integer())) { $0.remaining.map { .integer($0) } ?? .null },
            .init("period", .nullable(periods), "What is counted over.") { .text($0.window?.period.rawValue) },
            .init("resetsAt", .nullable(.time), "When counting begins anew; null where it never does.") {
                .time($0.window?.resetsAt)
            },
        ])

    /// All features.
    static let list = AccountShape<(tier: String, features: [FeaturePicture])>(
        "Features",
        [
            .init("tier", .text) { .string($0.tier) },
            .read("tierName", .text) { .string($1.name(ofTier: $0.tier)) },
            .read("features", .array(shape.schema), "In the catalog's order.") { all, reader in
                .array(all.features.map { shape.value(of: $0, for: reader) })
            },
        ])

    /// What is counted, with how much was used.
    static let usage = AccountShape<(tier: String, features: [FeaturePicture])>(
        "CurrentUsage",
        [
            .init("tier", .text) { .string($0.tier) },
            .read("usage", .array(shape.schema), "The features that are counted, in the catalog's order.") {
                all, reader in
                .array(all.features.filter { $0.window != nil }.map { shape.value(of: $0, for: reader) })
            },
        ])
}
