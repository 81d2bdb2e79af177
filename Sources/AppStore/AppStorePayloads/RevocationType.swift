public import Base

/// What kind of revocation it was (`revocationType`).
public struct RevocationType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All of the price.
    public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
    /// A part of the price.
    public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
    /// Family sharing ended.
    public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

    /// A seat was taken away: access ends, and no money goes.
    public static let assignmentRevoke = RevocationType(rawValue: "ASSIGNMENT_REVOKE")

    /// The values this release knows.
    public static let known: Set<RevocationType> = [.refundFull, .refundProrated, .familyRevoke, .assignmentRevoke]
}
