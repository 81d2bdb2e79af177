public import AppStorePayloads

/// The consumption data about a purchase that a policy sends to Apple. It does not include the customer's consent:
/// without a recorded one it is never sent, and the sender must supply it.
public struct ConsumptionAnswer: Sendable, Hashable {
    /// Whether the customer received it.
    public var deliveryStatus: DeliveryStatus
    /// Whether the customer could try it before buying.
    public var sampleContentProvided: Bool
    /// How much of it was used, in thousandths of a percent: 100000 is all of it.
    public var consumptionPercentage: Int64?
    /// The outcome that Apple is asked for.
    public var refundPreference: RefundPreference?

    /// An answer of these parts.
    public init(
        deliveryStatus: DeliveryStatus, sampleContentProvided: Bool, consumptionPercentage: Int64? = nil,
        refundPreference: RefundPreference? = nil
    ) {
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// The request body, for use once the customer's consent is recorded.
    public var informationWithConsent: ConsumptionInformation {
        ConsumptionInformation(
            customerConsented: true, deliveryStatus: deliveryStatus, sampleContentProvided: sampleContentProvided,
            consumptionPercentage: consumptionPercentage, refundPreference: refundPreference)
    }
}
