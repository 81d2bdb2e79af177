import APIKit
import Accounts
import AppStorePayloads
import Base

/// `GET /v1/subscriptions/status`, and what refreshing answers.
enum StatusAnswer {
    /// What it looks like.
    static let shape = AccountShape<AccountPicture>(
        "SubscriptionStatus",
        [
            .init("hasActiveSubscription", .boolean, "Whether the account has access, whatever gives it.") {
                .bool($0.access)
            },
            .read("subscription", .nullable(SubscriptionAnswer.shape.schema), "The purchase that tells most.") {
                SubscriptionAnswer.value(of: $0.subscription, for: $1)
            },
            .read("subscriptions", .array(SubscriptionAnswer.shape.schema), "All purchases of the account.") {
                picture, reader in
                .array(picture.subscriptions.map { SubscriptionAnswer.shape.value(of: $0, for: reader) })
            },
            .init("tier", .text) { .string($0.tier) },
            .read("tierName", .text) { .string($1.name(ofTier: $0.tier)) },
            .init("planType", .text, "The tier in capital letters.") { .string($0.tier.uppercased()) },
            .init("status", AccountWords.statuses) { .string($0.status.rawValue) },
            .read("displayStatus", .text) { .string($0.status.display[$1.languages]) },
            .init("source", AccountWords.sources) { .string($0.source.rawValue) },
            .init("isActive", .boolean) { .bool($0.access) },
            .init("expiresAt", .nullable(.time)) { .time($0.expiresAt) },
            .init("willRenew", .boolean) { .bool($0.willRenew) },
            .read("expiringSoon", .boolean, "Whether access ends soon, by the catalog, and does not go on by itself.") {
                .bool($0.isExpiringSoon(within: $1.catalog.warningDays))
            },
            .init("daysLeft", .nullable(.integer()), "Until access ends, each day that has begun counted.") {
                $0.daysLeft.map { .integer($0) } ?? .null
            },
            .init("cancelledAt", .nullable(.time)) { .time($0.subscription?.cancelledAt) },
            .init("trialStartedAt", .nullable(.time), "The app's own trial, else Apple's.") {
                .time($0.trial?.startedAt ?? $0.subscription?.trialStartedAt)
            },
            .init("trialEndsAt", .nullable(.time)) {
                .time($0.trial?.endsAt ?? $0.subscription?.trialEndsAt)
            },
            .init("purchaseType", AccountWords.purchaseTypes) { .string($0.subscription?.kind.rawValue ?? "none") },
            .init("purchaseDate", .nullable(.time)) { .time($0.subscription?.purchaseDate) },
            .init("environment", .text) { .string($0.environment) },
            .init("version", .integer()) { .integer($0.version) },
        ])
}
