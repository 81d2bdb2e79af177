public import Base

/// Apple's own status of an auto-renewable subscription at the notification's signedDate (`status`).
public struct AppleStatus: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Active.
    public static let active = AppleStatus(rawValue: 1)
    /// Expired.
    public static let expired = AppleStatus(rawValue: 2)
    /// In billing retry.
    public static let billingRetry = AppleStatus(rawValue: 3)
    /// In grace.
    public static let gracePeriod = AppleStatus(rawValue: 4)
    /// Revoked.
    public static let revoked = AppleStatus(rawValue: 5)

    /// The values this release knows.
    public static let known: Set<AppleStatus> = [.active, .expired, .billingRetry, .gracePeriod, .revoked]
}
