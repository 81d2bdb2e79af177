public import Base

/// Whether the customer got what was bought (`deliveryStatus` of Send Consumption Information v2).
public struct DeliveryStatus: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String
    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It was delivered and worked.
    public static let delivered = DeliveryStatus(rawValue: "DELIVERED")
    /// It did not work.
    public static let undeliveredQualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
    /// It was another item.
    public static let undeliveredWrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
    /// A server was down.
    public static let undeliveredServerOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
    /// Another reason.
    public static let undeliveredOther = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")

    /// The values this release knows.
    public static let known: Set<DeliveryStatus> = [
        .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage, .undeliveredOther,
    ]
}
