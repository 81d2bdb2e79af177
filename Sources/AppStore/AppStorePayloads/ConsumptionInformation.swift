/// What may be sent to Apple about the use of a purchase, with the customer's consent.
public struct ConsumptionInformation: Sendable, Hashable {
    /// That the customer has consented. Without it nothing may be sent at all.
    public var customerConsented: Bool
    /// Whether the customer got it.
    public var deliveryStatus: DeliveryStatus
    /// Whether the customer could try it before buying.
    public var sampleContentProvided: Bool
    /// How much of it was used, in thousandths of a percent: 100000 is all of it.
    public var consumptionPercentage: Int64?
    /// What the seller would have Apple do.
    public var refundPreference: RefundPreference?

    /// Creates the value from its parts.
    public init(
        customerConsented: Bool, deliveryStatus: DeliveryStatus, sampleContentProvided: Bool,
        consumptionPercentage: Int64? = nil, refundPreference: RefundPreference? = nil
    ) {
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// Which of Apple's rules for the fields it breaks, and so what to do; nil if none.
    ///
    /// - Parameter type: the product's kind where it is known; a rule for one kind is not held against an unknown one.
    public func fault(for type: ProductType?) -> String? {
        guard customerConsented else { return "the customer has not consented: send nothing at all" }
        if let percentage = consumptionPercentage, !(0...100_000).contains(percentage) {
            return "consumptionPercentage goes from 0 to 100000 (all of it)"
        }
        if deliveryStatus != .delivered, let percentage = consumptionPercentage, percentage != 0 {
            return "what was not delivered was not used: consumptionPercentage must be 0"
        }
        if refundPreference == .grantProrated, let type {
            if type == .autoRenewableSubscription, consumptionPercentage != nil {
                return "Apple prorates a subscription by time: leave consumptionPercentage out with GRANT_PRORATED"
            }
            if type != .autoRenewableSubscription, (consumptionPercentage ?? 0) == 0 {
                return "GRANT_PRORATED needs a consumptionPercentage above 0: how much the customer used"
            }
        }
        return nil
    }
}
