import AppStorePayloads
import Base
import Subscriptions

// Facts written by hand, on a calendar of days.

/// Midnight of a day, counted from an arbitrary one.
func day(_ day: Int64, hours: Int64 = 0) -> Timestamp {
    Timestamp(millisecondsSince1970: 1_749_945_600_000).adding(days: day).adding(seconds: hours * 3600)
}

/// A digest that tells records of one instant apart.
func digest(_ number: UInt8) -> [UInt8] { [number] + Array(repeating: 0, count: 31) }

/// A paid period; signed when it was bought by default.
func period(
    _ id: String, _ days: ClosedRange<Int64>, item: String? = nil, product: String = "basic", renewal: Bool = false,
    trial: Bool = false, revoked: Timestamp? = nil, upgraded: Bool = false, token: UniqueIdentifier? = nil,
    signed: Timestamp? = nil, digest number: UInt8 = 0
) -> TransactionFact {
    TransactionFact(
        transactionID: id, webOrderLineItemID: item, productID: product, subscriptionGroupID: "group",
        ownership: "PURCHASED", purchasedAt: day(days.lowerBound), expiresAt: day(days.upperBound), revokedAt: revoked,
        isUpgraded: upgraded, reason: renewal ? .renewal : .purchase, isFreeTrial: trial, appAccountToken: token,
        signedAt: signed ?? day(days.lowerBound), digest: digest(number))
}

/// Renewal info signed on a day.
func renewal(
    signed: Timestamp, renews: Timestamp?, on autoRenew: Bool? = true, retry: Bool? = nil, grace: Timestamp? = nil,
    product: String? = "basic", to next: String = "basic", reported: Int? = nil,
    intent: Int? = nil, pending: Bool = false, token: UniqueIdentifier? = nil, digest number: UInt8 = 0
) -> RenewalFact {
    RenewalFact(
        productID: product, renewalProductID: next, autoRenew: autoRenew, renewsAt: renews, expirationIntent: intent,
        inBillingRetry: retry, graceExpiresAt: grace, priceIncreasePending: pending, appAccountToken: token,
        signedAt: signed, reportedStatus: reported, digest: digest(number))
}

extension PurchaseFacts {
    /// The status at an instant, under the default policy; nil for what is no subscription.
    func status(_ instant: Timestamp, graceDays: Int64 = 16) -> SubscriptionStatus? {
        SubscriptionState(self, policy: StatusPolicy(graceDays: graceDays))?.status(at: instant)?.status
    }
}

extension PurchaseFacts {
    /// Everything about an instant, under the default policy.
    func value(_ instant: Timestamp) -> StatusAtInstant? { SubscriptionState(self)?.status(at: instant) }

    /// What the records do not explain.
    var anomalies: [Anomaly] { PurchaseState(self).anomalies }
}
