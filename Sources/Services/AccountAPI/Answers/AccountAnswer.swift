import APIKit
import Accounts
import AppStorePayloads
package import Base

/// `GET /v1/account`, and the member `account` of other answers.
package enum AccountAnswer {
    /// What it looks like.
    package static let shape = AccountShape<AccountPicture>(
        "Account",
        [
            .init("id", .text, "What the app calls the account.") { .string($0.account) },
            .init(
                "appAccountToken", .string(format: "uuid"),
                "To be handed to StoreKit with each purchase, so that Apple signs whose it is."
            ) { .string($0.token.description) },
            .init("environment", .text, "The environment in question.") { .string($0.environment) },
            .init("tier", .text, "What the account has, by the catalog.") { .string($0.tier) },
            .read("tierName", .text) { .string($1.name(ofTier: $0.tier)) },
            .init("status", AccountWords.statuses) { .string($0.status.rawValue) },
            .read("displayStatus", .text, "The status for people, in the language asked for.") {
                .string($0.status.display[$1.languages])
            },
            .init("source", AccountWords.sources, "What gives the account its tier.") { .string($0.source.rawValue) },
            .init("hasAccess", .boolean, "Whether it has more than everybody has.") { .bool($0.access) },
            .init("expiresAt", .nullable(.time), "When access ends, or ended; null where it never does.") {
                .time($0.expiresAt)
            },
            .init("version", .integer(), "Grows with each change of the account.") { .integer($0.version) },
        ])
}

/// The words of answers about accounts.
package enum AccountWords {
    /// The statuses.
    package static let statuses = APISchema.choice([
        "active", "trial", "cancelled", "grace_period", "expired", "trial_expired", "revoked", "free",
    ])
    /// What may give a tier.
    package static let sources = APISchema.choice(["apple", "grant", "trial", "none"])
    /// What may have been bought.
    package static let purchaseTypes = APISchema.choice(SubscriptionPicture.Kind.allCases.map(\.rawValue) + ["none"])
}
