/// What the operator decides about statuses; everything else is Apple's rule.
public struct StatusPolicy: Sendable, Hashable {
    /// Days of grace from expiry where Apple says `grace period` and gives no date. App Store Connect offers 3, 16 and
    /// 28; 16 unless told otherwise.
    public var graceDays: Int64

    /// A policy.
    public init(graceDays: Int64 = 16) { self.graceDays = graceDays }

    /// How long Apple goes on trying to charge after expiry (App Store Connect Help, "Reduce involuntary churn").
    static let billingRetryDays: Int64 = 60
    /// How far ahead of a period's start Apple charges for it: a renewal that begins within this is as good as begun.
    static let renewsEarlyDays: Int64 = 1
}
