import AppStorePayloads
public import Base

/// Why a renewal date is extended (`extendReasonCode`).
public struct ExtendReasonCode: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64
    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Not said.
    public static let undeclared = ExtendReasonCode(rawValue: 0)
    /// To satisfy the customer.
    public static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
    /// Another reason.
    public static let other = ExtendReasonCode(rawValue: 2)
    /// Trouble with the service.
    public static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

    /// The values this release knows.
    public static let known: Set<ExtendReasonCode> = [
        .undeclared, .customerSatisfaction, .other, .serviceIssueOrOutage,
    ]
}
