package import Base
import Subscriptions

/// What each surface calls the members of a ``SubscriptionView``.
package enum SubscriptionShapes {
    /// Wherever an answer of the account API has a purchase.
    package static let api = AccountShape<SubscriptionView>(
        "Subscription",
        [
            .init("productId", "Apple's id of the product.") { $0.productID ?? "" },
            .init("status", \.accountStatus),
            .init("isTrialPeriod", "Whether this period is one of Apple's free trials.", \.inTrial),
            .init("expiresAt", "When its access ends, or ended; null where it never does.", \.accessUntil),
            .init("autoRenewStatus", "Whether it renews itself then, as far as is known.") { $0.willRenew ?? false },
            .read("id", "The catalog's id of the product; null of one that it does not know.") { $1.product($0)?.id },
            .read("name", "What customers call the product.") { $1.text($1.product($0)?.names) },
            .read("tier", "What it gives, by the catalog.") { $1.product($0)?.tier },
            .init("hasAccess", \.givesAccess),
            .read("displayStatus", "The status for people, in the language asked for.") {
                $0.accountStatus.display[$1.languages]
            },
            .init("purchaseType", AccountShapes.purchaseTypes) { $0.purchaseType.json },
            .init("purchaseDate", "When it was bought first.", \.purchaseDate),
            .init("cancelledAt", "Since when it does not renew itself; null while it does.", \.cancelledAt),
            .init("trialStartedAt", "When Apple's free trial began.", \.trialStartedAt),
            .init("trialEndsAt", \.trialEndsAt),
            .init("renewalProductId", "What it would renew as.", \.renewalProductID),
            .init("originalTransactionId", "Apple's number of the purchase.", \.key.originalTransactionID),
            .init("isFamilyShared", \.isFamilyShared),
            .init("bundleId", "The app.", \.key.bundleID),
            .init("environment", \.key.environment),
        ])

    /// In `GET /v1/entitlements`, of those that give access.
    package static let entitlement = AccountShape<SubscriptionView>(
        "ProductEntitlement",
        [
            .init("productId") { $0.productID ?? "" },
            .read("id") { $1.product($0)?.id },
            .read("tier") { $1.product($0)?.tier },
            .init("source") { _ in AccountSource.apple },
            .init("purchaseType", AccountShapes.purchaseTypes) { $0.purchaseType.json },
            .init("expiresAt", \.accessUntil),
            .init("originalTransactionId", \.key.originalTransactionID),
            .init("isFamilyShared", \.isFamilyShared),
            .init("bundleId", \.key.bundleID),
        ])

    /// `storehook subscription`
    package static let command = CommandShape<SubscriptionView>([
        .init("environment", \.key.environment), .init("bundle_id", \.key.bundleID),
        .init("original_transaction_id", \.key.originalTransactionID), .init("product_id", \.productID),
        .init("subscription_group_id", \.subscriptionGroupID), .init("app_account_token", \.appAccountToken),
        .init("status", \.status?.rawValue), .init("access", \.access), .init("expires_at", \.expiresAt),
        .init("access_until", \.accessUntil), .init("will_renew", \.willRenew),
        .init("renewal_product_id", \.renewalProductID), .init("in_trial", \.inTrial),
        .init("price_increase_pending", \.priceIncreasePending), .init("apple_status", \.status?.appleStatus),
        .init("period_ends_at", \.periodEndsAt), .init("grace_ends_at", \.graceEndsAt),
        .init("expiration_intent", \.expirationIntent), .init("basis", \.basis.rawValue),
        .init("basis_explained", \.basisExplained), .init("since", \.since), .init("transaction_id", \.transactionID),
        .init("ownership", \.ownership), .init("offer_type", \.offerType), .init("offer_id", \.offerID),
        .init("price", \.price?.milliunits), .init("currency", \.price?.currency), .init("storefront", \.storefront),
        .init("app_transaction_id", \.appTransactionID), .init("renewal_price", \.renewalPrice?.milliunits),
        .init("renewal_currency", \.renewalPrice?.currency),
    ])

    /// In `storehook account show`, of an account.
    package static let ofAccount = CommandShape<(purchase: SubscriptionView, account: UniqueIdentifier)>([
        .init("original_transaction_id", \.purchase.key.originalTransactionID),
        .init("bundle_id", \.purchase.key.bundleID),
        .init("product_id", \.purchase.productID),
        .init("status") { $0.purchase.status?.rawValue ?? "not_bought" },
        .init("access_until", \.purchase.accessUntil),
        .init("owner", \.purchase.owner),
        .init("is_owned") { $0.purchase.owner == $0.account },
        .list("bindings", binding, \.purchase.bindings),
    ])

    private static let binding = CommandShape<PurchaseBinding>([
        .init("at", \.at), .init("kind", \.kind), .init("account", \.account),
    ])
}
