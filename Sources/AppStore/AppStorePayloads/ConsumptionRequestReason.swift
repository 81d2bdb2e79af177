public import Base

/// Why the customer asks for a refund (`consumptionRequestReason`).
public struct ConsumptionRequestReason: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not meant.
    public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
    /// Not delivered.
    public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
    /// Not satisfied.
    public static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    /// A legal reason.
    public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
    /// Another reason.
    public static let other = ConsumptionRequestReason(rawValue: "OTHER")

    /// The values this release knows.
    public static let known: Set<ConsumptionRequestReason> = [
        .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
    ]
}
