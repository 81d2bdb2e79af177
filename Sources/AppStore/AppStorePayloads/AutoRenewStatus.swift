public import Base

/// Whether the subscription will renew (`autoRenewStatus`).
public struct AutoRenewStatus: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// It will not.
    public static let off = AutoRenewStatus(rawValue: 0)
    /// It will.
    public static let on = AutoRenewStatus(rawValue: 1)

    /// The values this release knows.
    public static let known: Set<AutoRenewStatus> = [.off, .on]
}
