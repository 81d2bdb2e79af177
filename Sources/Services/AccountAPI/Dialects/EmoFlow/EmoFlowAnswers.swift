import APIKit
import Accounts
import AppStorePayloads
import Base

/// The answers of the EmoFlow dialect: its members, in its order.
///
/// Where there is nothing to say a member is null, and `auto_renew` is false.
enum EmoFlowAnswers {
    private static let statuses = APISchema.choice(EmoFlowWords.statuses)
    private static let environments = APISchema.choice(["production", "sandbox", "xcode", "localtesting"])
    private static let isMember = AccountShape<AccountPicture>.Field("is_member", .boolean) { .bool($0.access) }

    private static let subscription = AccountShape<AccountPicture>(
        "EmoFlowSubscription",
        [
            .init("status", statuses) { .string(EmoFlowWords.status($0.status)) },
            .init("product_id", .nullable(.text)) { .text($0.speaking?.productID) },
            .init("expires_at", .nullable(.time)) { .time($0.expiresAt) },
            .init("auto_renew", .boolean) { .bool($0.willRenew) },
            .init("environment", environments) { .string($0.environmentInLowerCase) },
            isMember,
        ])

    /// Restoring names the product by the catalog's short id, and the expiry before it.
    private static let restored = AccountShape<AccountPicture>(
        "EmoFlowRestoredSubscription",
        [
            .init("status", statuses) { .string(EmoFlowWords.status($0.status)) },
            .init("expires_at", .nullable(.time)) { .time($0.expiresAt) },
            .read("product_id", .nullable(.text)) { picture, reader in
                guard let line = picture.speaking else { return .null }
                return .string(reader.catalog.product(line.productID, of: line.bundleID)?.id ?? line.productID)
            },
            .init("auto_renew", .boolean) { .bool($0.willRenew) },
            .init("environment", environments) { .string($0.environmentInLowerCase) },
            isMember,
        ])

    private static let standing = AccountShape<AccountPicture>(
        "EmoFlowStanding",
        [
            .init("subscription_status", statuses) { .string(EmoFlowWords.status($0.status)) },
            .init("subscription_product_id", .nullable(.text)) { .text($0.speaking?.productID) },
            .init("subscription_expires_at", .nullable(.time)) { .time($0.expiresAt) },
            .init("auto_renew_status", .boolean) { .bool($0.willRenew) },
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
        _ name: String, _ message: String?, _ part: AccountShape<AccountPicture>
    ) -> AccountShape<AccountPicture> {
        AccountShape(
            name,
            head(message) + [.read("subscription", part.schema) { part.value(of: $0, for: $1) }])
    }

    private static func head<Subject>(_ message: String?) -> [AccountShape<Subject>.Field] {
        [.init("status", .choice([EmoFlowWords.success])) { _ in .string(EmoFlowWords.success) }]
            + (message.map { message in [.init("message", .text) { _ in .string(message) }] } ?? [])
    }

    private static let product = AccountShape<Catalog.Product>(
        "EmoFlowProduct",
        [
            .init("id", .text) { .string($0.id) },
            .init("name", .text) { .string($0.names?[EmoFlowWords.languages] ?? $0.id) },
            .init("price", .text) { .string($0.displayPrice(EmoFlowWords.languages) ?? "") },
            .init("daily_price", .text) { .string($0.displayPricePerDay.map { "仅需\($0)/天" } ?? "") },
            .init("period", .text) { .string(EmoFlowWords.period($0.period)) },
            .init("period_display", .text) {
                .string($0.periodNames?[EmoFlowWords.languages] ?? EmoFlowWords.periodDisplay($0.period))
            },
            .init("apple_product_id", .text) { .string($0.productID) },
            .init("is_popular", .boolean) { .bool($0.isPopular) },
            .init("sort_order", .integer()) { .integer(Int64($0.sortOrder)) },
        ])

    /// `GET /subscription/products`
    static let products = AccountShape<[Catalog.Product]>(
        "EmoFlowProducts",
        head(EmoFlowWords.listed) + [
            .read("products", .array(product.schema)) { products, reader in
                .array(products.map { product.value(of: $0, for: reader) })
            }
        ])
}

extension AccountPicture {
    /// The purchase that the status is of; nil where something else gives it.
    fileprivate var speaking: SubscriptionPicture? { source == .apple ? subscription : nil }

    fileprivate var environmentInLowerCase: String { (speaking?.environment ?? environment).lowercased() }
}
