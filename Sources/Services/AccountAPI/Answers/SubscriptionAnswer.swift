import APIKit
import Accounts
import AppStorePayloads
import Base

/// A purchase, wherever an answer tells of one.
package enum SubscriptionAnswer {
    /// What it looks like.
    package static let shape = AccountShape<SubscriptionPicture>(
        "Subscription",
        [
            .init("productId", .text, "Apple's id of the product.") { .string($0.productID) },
            .init("status", AccountWords.statuses) { .string($0.status.rawValue) },
            .init("isTrialPeriod", .boolean, "Whether this period is one of Apple's free trials.") {
                .bool($0.isTrialPeriod)
            },
            .init("expiresAt", .nullable(.time), "When its access ends, or ended; null where it never does.") {
                .time($0.expiresAt)
            },
            .init("autoRenewStatus", .boolean, "Whether it renews itself then, as far as is known.") {
                .bool($0.willRenew)
            },
            .read("id", .nullable(.text), "The catalog's id of the product; null of one that it does not know.") {
                .text($1.catalog.product($0.productID, of: $0.bundleID)?.id)
            },
            .read("name", .nullable(.text), "What customers call the product.") {
                $1.text($1.catalog.product($0.productID, of: $0.bundleID)?.names)
            },
            .read("tier", .nullable(.text), "What it gives, by the catalog.") {
                .text($1.catalog.product($0.productID, of: $0.bundleID)?.tier)
            },
            .init("hasAccess", .boolean) { .bool($0.access) },
            .read("displayStatus", .text, "The status for people, in the language asked for.") {
                .string($0.status.display[$1.languages])
            },
            .init("purchaseType", AccountWords.purchaseTypes) { .string($0.kind.rawValue) },
            .init("purchaseDate", .nullable(.time), "When it was bought first.") { .time($0.purchaseDate) },
            .init("cancelledAt", .nullable(.time), "Since when it does not renew itself; null while it does.") {
                .time($0.cancelledAt)
            },
            .init("trialStartedAt", .nullable(.time), "When Apple's free trial began.") { .time($0.trialStartedAt) },
            .init("trialEndsAt", .nullable(.time)) { .time($0.trialEndsAt) },
            .init("renewalProductId", .nullable(.text), "What it would renew as.") { .text($0.renewalProductID) },
            .init("originalTransactionId", .text, "Apple's number of the purchase.") {
                .string($0.originalTransactionID)
            },
            .init("isFamilyShared", .boolean) { .bool($0.isFamilyShared) },
            .init("bundleId", .text, "The app.") { .string($0.bundleID) },
            .init("environment", .text) { .string($0.environment) },
        ])

    /// The same, or null.
    static func value(of subscription: SubscriptionPicture?, for reader: Reader) -> JSONValue {
        subscription.map { shape.value(of: $0, for: reader) } ?? .null
    }
}
