public import Base

/// What happened, in Apple's word (`notificationType`).
///
/// For the audit and side effects: state never branches on it.
public struct NotificationType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A first purchase in the subscription group, or again after a lapse.
    public static let subscribed = NotificationType(rawValue: "SUBSCRIBED")
    /// The subscription renewed.
    public static let didRenew = NotificationType(rawValue: "DID_RENEW")
    /// The customer changed the plan.
    public static let didChangeRenewalPref = NotificationType(rawValue: "DID_CHANGE_RENEWAL_PREF")
    /// Auto-renew was switched.
    public static let didChangeRenewalStatus = NotificationType(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    /// An active subscriber took an offer.
    public static let offerRedeemed = NotificationType(rawValue: "OFFER_REDEEMED")
    /// The charge failed.
    public static let didFailToRenew = NotificationType(rawValue: "DID_FAIL_TO_RENEW")
    /// Grace is over; Apple goes on trying to charge.
    public static let gracePeriodExpired = NotificationType(rawValue: "GRACE_PERIOD_EXPIRED")
    /// The subscription ended.
    public static let expired = NotificationType(rawValue: "EXPIRED")
    /// Consent to a higher price is awaited, given, or not needed.
    public static let priceIncrease = NotificationType(rawValue: "PRICE_INCREASE")
    /// An Advanced Commerce price changed.
    public static let priceChange = NotificationType(rawValue: "PRICE_CHANGE")
    /// Advanced Commerce metadata changed.
    public static let metadataUpdate = NotificationType(rawValue: "METADATA_UPDATE")
    /// A subscription was migrated to Advanced Commerce.
    public static let migration = NotificationType(rawValue: "MIGRATION")
    /// Another spelling of `MIGRATION`.
    public static let migrate = NotificationType(rawValue: "MIGRATE")
    /// Apple refunded the transaction named, which may be of an old period.
    public static let refund = NotificationType(rawValue: "REFUND")
    /// Apple declined a refund.
    public static let refundDeclined = NotificationType(rawValue: "REFUND_DECLINED")
    /// Apple took a refund back.
    public static let refundReversed = NotificationType(rawValue: "REFUND_REVERSED")
    /// Family access was lost.
    public static let revoke = NotificationType(rawValue: "REVOKE")
    /// A refund was asked for; Apple wants consumption data within twelve hours.
    public static let consumptionRequest = NotificationType(rawValue: "CONSUMPTION_REQUEST")
    /// The renewal date moved.
    public static let renewalExtended = NotificationType(rawValue: "RENEWAL_EXTENDED")
    /// The result of a mass extension.
    public static let renewalExtension = NotificationType(rawValue: "RENEWAL_EXTENSION")
    /// A consumable, non-consumable or non-renewing subscription was bought.
    public static let oneTimeCharge = NotificationType(rawValue: "ONE_TIME_CHARGE")
    /// An external purchase token must be reported to Apple.
    public static let externalPurchaseToken = NotificationType(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    /// Consent for the app was withdrawn.
    public static let rescindConsent = NotificationType(rawValue: "RESCIND_CONSENT")
    /// Asked for by the developer; carries no purchase.
    public static let test = NotificationType(rawValue: "TEST")

    /// The values this release knows.
    public static let known: Set<NotificationType> = [
        .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didFailToRenew,
        .gracePeriodExpired, .expired, .priceIncrease, .priceChange, .metadataUpdate, .migration, .migrate, .refund,
        .refundDeclined, .refundReversed, .revoke, .consumptionRequest, .renewalExtended, .renewalExtension,
        .oneTimeCharge, .externalPurchaseToken, .rescindConsent, .test,
    ]
}
