import APIKit
import Accounts
import AppStorePayloads
import Base

/// `GET /v1/entitlements`: what gives access, until when, and what that opens.
enum EntitlementsAnswer {
    private static let product = AccountShape<SubscriptionPicture>(
        "ProductEntitlement",
        [
            .init("productId", .text) { .string($0.productID) },
            .read("id", .nullable(.text)) { .text($1.catalog.product($0.productID, of: $0.bundleID)?.id) },
            .read("tier", .nullable(.text)) { .text($1.catalog.product($0.productID, of: $0.bundleID)?.tier) },
            .init("source", AccountWords.sources) { _ in .string(AccountSource.apple.rawValue) },
            .init("purchaseType", AccountWords.purchaseTypes) { .string($0.kind.rawValue) },
            .init("expiresAt", .nullable(.time)) { .time($0.expiresAt) },
            .init("originalTransactionId", .text) { .string($0.originalTransactionID) },
            .init("isFamilyShared", .boolean) { .bool($0.isFamilyShared) },
            .init("bundleId", .text) { .string($0.bundleID) },
        ])

    /// A tier that the account has: the one it is in, and all below it.
    private static let tier = AccountShape<(tier: String, picture: AccountPicture)>(
        "TierEntitlement",
        [
            .init("tier", .text) { .string($0.tier) },
            .read("name", .text) { .string($1.name(ofTier: $0.tier)) },
            .read("source", AccountWords.sources) { held, reader in
                .string((held.tier == reader.catalog.free.id ? AccountSource.none : held.picture.source).rawValue)
            },
            .read("expiresAt", .nullable(.time)) { held, reader in
                held.tier == reader.catalog.free.id ? .null : .time(held.picture.expiresAt)
            },
        ])

    /// What it looks like.
    static let shape = AccountShape<AccountPicture>(
        "Entitlements",
        [
            .init("tier", .text, "The highest tier that the account has.") { .string($0.tier) },
            .read("tiers", .array(tier.schema), "All tiers that it has, in rising order.") { picture, reader in
                let rank = reader.catalog.rank(of: picture.tier) ?? 0
                return .array(
                    reader.catalog.tiers.prefix(rank + 1).map { tier.value(of: ($0.id, picture), for: reader) })
            },
            .read("products", .array(product.schema), "The purchases that give access.") { picture, reader in
                .array(picture.subscriptions.filter(\.access).map { product.value(of: $0, for: reader) })
            },
            .init("environment", .text) { .string($0.environment) },
            .init("version", .integer()) { .integer($0.version) },
        ])
}
