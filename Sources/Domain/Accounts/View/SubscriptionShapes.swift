package import Base
import Subscriptions

/// What each surface calls the members of a ``SubscriptionView``.
package enum SubscriptionShapes {
    /// Wherever an answer of the account API has a purchase.
    package static let api = AccountShape<SubscriptionView>(
        "Subscription",
        [
            .init("productId", "Apple's id of the product.") { $0.productID ?? "" },
            .init("status") { $0.purchaseStatus },
            .init("isTrialPeriod", "Whether this period is one of Apple's free trials.") { $0.inTrial },
            .init("expiresAt", "When its access ends, or ended; null where it never does.") { $0.accessUntil },
            .init("autoRenewStatus", "Whether it renews itself then, as far as is known.") { $0.willRenew ?? false },
            .read("id", "The catalog's id of the product; null of one that it does not know.") { $1.product($0)?.id },
            .read("name", "What customers call the product.") { $1.text($1.product($0)?.names) },
            .read("tier", "What it gives, by the catalog.") { $1.product($0)?.tier },
            .init("hasAccess") { $0.givesAccess },
            .read("displayStatus", "The status for people, in the language asked for.") {
                $0.purchaseStatus.display[$1.languages]
            },
            .init("purchaseType", AccountShapes.purchaseTypes) { $0.purchaseType.json },
            .read(
                "period", AccountShapes.periods,
                "How long it lasts each time, by the catalog; none of a subscription that the catalog does not know."
            ) { AccountShapes.json(of: $1.period(of: $0)) },
            .init("purchaseDate", "When it was bought first.") { $0.purchaseDate },
            .init(
                "cancelledAt",
                "Since when it does not renew itself, or was taken back; null while it renews. It stays when a cancelled one has ended."
            ) { $0.cancelledAt },
            .init("trialStartedAt", "When Apple's free trial began.") { $0.trialStartedAt },
            .init("trialEndsAt") { $0.trialEndsAt },
            .init("renewalProductId", "What it would renew as.") { $0.renewalProductID },
            .init("originalTransactionId", "Apple's number of the purchase.") { $0.key.originalTransactionID },
            .init(
                "transactionId", "Apple's number of the period's transaction; null where that was never heard of."
            ) { $0.transactionID },
            .init("isFamilyShared") { $0.isFamilyShared },
            .init("bundleId", "The app.") { $0.key.bundleID },
            .init("environment", Environment.schema) { .string($0.key.environment) },
            .init(
                "createdAt",
                "When its first evidence was stored; null of what an earlier release stored, until a rebuild or its next evidence."
            ) { $0.createdAt },
            .init(
                "updatedAt", "When it changed last: when its latest evidence was stored, or when its status began."
            ) { $0.updatedAt },
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
            .init("expiresAt") { $0.accessUntil },
            .init("originalTransactionId") { $0.key.originalTransactionID },
            .init("isFamilyShared") { $0.isFamilyShared },
            .init("bundleId") { $0.key.bundleID },
        ])

    /// `storehook subscription`
    package static let command = CommandShape<SubscriptionView>([
        .init("environment") { $0.key.environment }, .init("bundle_id") { $0.key.bundleID },
        .init("original_transaction_id") { $0.key.originalTransactionID }, .init("product_id") { $0.productID },
        .init("subscription_group_id") { $0.subscriptionGroupID }, .init("app_account_token") { $0.appAccountToken },
        .init("status") { $0.status?.rawValue }, .init("access") { $0.access }, .init("expires_at") { $0.expiresAt },
        .init("access_until") { $0.accessUntil }, .init("will_renew") { $0.willRenew },
        .init("renewal_product_id") { $0.renewalProductID }, .init("in_trial") { $0.inTrial },
        .init("price_increase_pending") { $0.priceIncreasePending }, .init("apple_status") { $0.status?.appleStatus },
        .init("period_ends_at") { $0.periodEndsAt }, .init("grace_ends_at") { $0.graceEndsAt },
        .init("expiration_intent") { $0.expirationIntent }, .init("basis") { $0.basis.rawValue },
        .init("basis_explained") { $0.basisExplained }, .init("since") { $0.since },
        .init("transaction_id") { $0.transactionID },
        .init("ownership") { $0.ownership }, .init("offer_type") { $0.offerType }, .init("offer_id") { $0.offerID },
        .init("price") { $0.price?.milliunits }, .init("currency") { $0.price?.currency },
        .init("storefront") { $0.storefront },
        .init("app_transaction_id") { $0.appTransactionID }, .init("renewal_price") { $0.renewalPrice?.milliunits },
        .init("renewal_currency") { $0.renewalPrice?.currency },
    ])

    /// In `storehook account show`, of an account.
    package static let ofAccount = CommandShape<
        (purchase: SubscriptionView, account: UniqueIdentifier, worth: PurchaseWorth)
    >([
        .init("original_transaction_id") { $0.purchase.key.originalTransactionID },
        .init("bundle_id") { $0.purchase.key.bundleID },
        .init("product_id") { $0.purchase.productID },
        .init("status") { $0.purchase.status?.rawValue ?? "not_bought" },
        .init("access_until") { $0.purchase.accessUntil },
        .init("owner") { $0.purchase.owner },
        .init("is_owned") { $0.purchase.owner == $0.account },
        .init("gives_tier") { $0.worth.tier },
        .init("gives_nothing_because") { $0.worth.why?.rawValue },
        .list("bindings", binding) { $0.purchase.bindings },
    ])

    private static let binding = CommandShape<PurchaseBinding>([
        .init("at") { $0.at }, .init("kind") { $0.kind }, .init("account") { $0.account },
    ])
}
