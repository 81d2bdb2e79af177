public import Base

/// What the seller would have Apple do about a refund request (`refundPreference` of Send Consumption Information v2).
public struct RefundPreference: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String
    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No refund.
    public static let decline = RefundPreference(rawValue: "DECLINE")
    /// All of it.
    public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
    /// What was not used.
    public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

    /// The values this release knows.
    public static let known: Set<RefundPreference> = [.decline, .grantFull, .grantProrated]
}
