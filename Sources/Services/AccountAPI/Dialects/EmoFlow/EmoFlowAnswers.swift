import APIKit
import Accounts
import AppStorePayloads
import Base
import Subscriptions

/// The answers of the EmoFlow dialect: its members, in its order.
///
/// Where there is nothing to say a member is null, and `auto_renew` is false.
enum EmoFlowAnswers {
    private static let statuses = ValueSchema.named("EmoFlowState", .choice(EmoFlowWords.statuses))
    private static let environments = ValueSchema.named(
        "EmoFlowEnvironment", .choice(["production", "sandbox", "xcode", "localtesting"]))
    private static let isMember = AccountShape<AccountView>.Field("is_member") { $0.current.access }

    private static let subscription = AccountShape<AccountView>(
        "EmoFlowSubscription",
        [
            .init("status", statuses) { .string(EmoFlowWords.status($0.current.status)) },
            .init("product_id") { $0.speaking?.productID },
            .init("expires_at") { $0.current.expiresAt },
            .init("auto_renew") { $0.current.willRenew },
            .init("environment", environments) { .string($0.environmentInLowerCase) },
            isMember,
        ])

    /// Restoring names the product by the catalog's short id, and the expiry before it.
    private static let restored = AccountShape<AccountView>(
        "EmoFlowRestoredSubscription",
        [
            .init("status", statuses) { .string(EmoFlowWords.status($0.current.status)) },
            .init("expires_at") { $0.current.expiresAt },
            .read("product_id") { view, reader in
                view.speaking.flatMap { reader.product($0)?.id ?? $0.productID }
            },
            .init("auto_renew") { $0.current.willRenew },
            .init("environment", environments) { .string($0.environmentInLowerCase) },
            isMember,
        ])

    private static let standing = AccountShape<AccountView>(
        "EmoFlowStanding",
        [
            .init("subscription_status", statuses) { .string(EmoFlowWords.status($0.current.status)) },
            .init("subscription_product_id") { $0.speaking?.productID },
            .init("subscription_expires_at") { $0.current.expiresAt },
            .init("auto_renew_status") { $0.current.willRenew },
            .init("subscription_environment", environments) { .string($0.environmentInLowerCase) },
            isMember,
        ])

    /// `POST /subscription/verify`
    static let verify = answer("EmoFlowVerified", EmoFlowWords.verified, subscription)
    /// `POST /subscription/refresh`
    static let refresh = answer("EmoFlowRefreshed", EmoFlowWords.refreshed, subscription)
    /// `POST /subscription/restore`
    static let restore = answer("EmoFlowRestored", EmoFlowWords.restored, restored)
    /// `GET /subscription/status`
    static let status = answer("EmoFlowStatus", nil, standing)

    private static func answer(
        _ name: String, _ message: String?, _ part: AccountShape<AccountView>
    ) -> AccountShape<AccountView> {
        AccountShape(
            name,
            head(message) + [.nested("subscription", part) { $0 }])
    }

    private static func head<Subject>(_ message: String?) -> [AccountShape<Subject>.Field] {
        [.init("status", .choice([EmoFlowWords.success])) { _ in .string(EmoFlowWords.success) }]
            + (message.map { message in [.init("message", .text) { _ in .string(message) }] } ?? [])
    }

    private static let product = AccountShape<Catalog.Product>(
        "EmoFlowProduct",
        [
            .init("id") { $0.id },
            .init("name") { $0.names?[EmoFlowWords.languages] ?? $0.id },
            .init("price") { $0.displayPrice(EmoFlowWords.languages) ?? "" },
            .init("daily_price") { $0.displayPricePerDay.map { "仅需\($0)/天" } ?? "" },
            .init("period") { EmoFlowWords.period($0.period) },
            .init("period_display") {
                $0.periodNames?[EmoFlowWords.languages] ?? EmoFlowWords.periodDisplay($0.period)
            },
            .init("apple_product_id") { $0.productID },
            .init("is_popular") { $0.isPopular },
            .init("sort_order") { $0.sortOrder },
        ])

    /// `GET /subscription/products`
    static let products = AccountShape<[Catalog.Product]>(
        "EmoFlowProducts",
        head(EmoFlowWords.listed) + [.list("products", product) { $0 }])
}

extension AccountView {
    /// The purchase that the status is of; nil where something else gives it.
    fileprivate var speaking: SubscriptionView? { current.source == .apple ? subscription : nil }

    fileprivate var environmentInLowerCase: String { (speaking?.key.environment ?? environment).lowercased() }
}
