public import Base

/// More about what happened, in Apple's word (`subtype`).
public struct NotificationSubtype: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The first purchase in the group.
    public static let initialBuy = NotificationSubtype(rawValue: "INITIAL_BUY")
    /// A purchase after a lapse.
    public static let resubscribe = NotificationSubtype(rawValue: "RESUBSCRIBE")
    /// A better plan, effective at once.
    public static let upgrade = NotificationSubtype(rawValue: "UPGRADE")
    /// A lesser plan, effective at the next renewal.
    public static let downgrade = NotificationSubtype(rawValue: "DOWNGRADE")
    /// Auto-renew was switched on.
    public static let autoRenewEnabled = NotificationSubtype(rawValue: "AUTO_RENEW_ENABLED")
    /// Auto-renew was switched off.
    public static let autoRenewDisabled = NotificationSubtype(rawValue: "AUTO_RENEW_DISABLED")
    /// The customer cancelled.
    public static let voluntary = NotificationSubtype(rawValue: "VOLUNTARY")
    /// Apple gave up charging.
    public static let billingRetry = NotificationSubtype(rawValue: "BILLING_RETRY")
    /// A charge went through after a failure.
    public static let billingRecovery = NotificationSubtype(rawValue: "BILLING_RECOVERY")
    /// The customer did not agree to a higher price.
    public static let priceIncrease = NotificationSubtype(rawValue: "PRICE_INCREASE")
    /// The product is no longer sold.
    public static let productNotForSale = NotificationSubtype(rawValue: "PRODUCT_NOT_FOR_SALE")
    /// The charge failed and grace is given.
    public static let gracePeriod = NotificationSubtype(rawValue: "GRACE_PERIOD")
    /// An answer is awaited.
    public static let pending = NotificationSubtype(rawValue: "PENDING")
    /// Agreed, or informed where no consent is needed.
    public static let accepted = NotificationSubtype(rawValue: "ACCEPTED")
    /// All of a mass extension is done.
    public static let summary = NotificationSubtype(rawValue: "SUMMARY")
    /// A mass extension failed for this subscription.
    public static let failure = NotificationSubtype(rawValue: "FAILURE")
    /// A token was created.
    public static let created = NotificationSubtype(rawValue: "CREATED")
    /// A token is still active.
    public static let activeTokenReminder = NotificationSubtype(rawValue: "ACTIVE_TOKEN_REMINDER")
    /// A token was not reported.
    public static let unreported = NotificationSubtype(rawValue: "UNREPORTED")

    /// The values this release knows.
    public static let known: Set<NotificationSubtype> = [
        .initialBuy, .resubscribe, .upgrade, .downgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary,
        .billingRetry, .billingRecovery, .priceIncrease, .productNotForSale, .gracePeriod, .pending, .accepted,
        .summary, .failure, .created, .activeTokenReminder, .unreported,
    ]
}
