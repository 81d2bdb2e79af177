public import AppStorePayloads

/// What a policy has Apple told about a purchase. It says nothing about the customer's consent: without a recorded one it is
/// never sent, and whoever sends it has to bring that.
public struct ConsumptionAnswer: Sendable, Hashable {
    /// Whether the customer got it.
    public var deliveryStatus: DeliveryStatus
    /// Whether the customer could try it before buying.
    public var sampleContentProvided: Bool
    /// How much of it was used, in thousandths of a percent: 100000 is all of it.
    public var consumptionPercentage: Int64?
    /// What Apple is asked to do.
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

    /// What is sent, once the customer's consent is at hand.
    public var informationWithConsent: ConsumptionInformation {
        ConsumptionInformation(
            customerConsented: true, deliveryStatus: deliveryStatus, sampleContentProvided: sampleContentProvided,
            consumptionPercentage: consumptionPercentage, refundPreference: refundPreference)
    }
}
