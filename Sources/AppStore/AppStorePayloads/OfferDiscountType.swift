public import Base

/// How an offer is paid (`offerDiscountType`).
public struct OfferDiscountType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Free for a time.
    public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
    /// Paid each period.
    public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
    /// Paid at once.
    public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
    /// Paid one time.
    public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

    /// The values this release knows.
    public static let known: Set<OfferDiscountType> = [.freeTrial, .payAsYouGo, .payUpFront, .oneTime]
}
