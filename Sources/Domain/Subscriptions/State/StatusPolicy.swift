import AppStorePayloads
import Base

/// What the operator decides about statuses; everything else is Apple's rule.
public struct StatusPolicy: Sendable, Hashable {
    /// Days of grace from expiry where Apple says "grace period" and gives no date. App Store Connect offers 3, 16 and
    /// 28; the default is 16. Outside Production a minute stands for each of these days.
    public var graceDays: Int64

    /// For how many seconds after a period's end access goes on where nothing that Apple said up to the end excludes a
    /// renewal: the notification may only be late, and that must not lock a customer out. A status that Apple reports
    /// after the end, or renewal info that says something new, ends the waiting. The default is none. After a change, a
    /// rebuild derives the stored states anew.
    public var renewalLeewaySeconds: Int64

    /// A policy.
    public init(graceDays: Int64 = 16, renewalLeewaySeconds: Int64 = 0) {
        self.graceDays = graceDays
        self.renewalLeewaySeconds = renewalLeewaySeconds
    }

    /// The programs' default: access goes on for ten minutes where a renewal may only be late.
    public static let usual = StatusPolicy(renewalLeewaySeconds: 600)

    /// When grace ends that began at an instant, where Apple gives no date.
    func graceEnd(from expiry: Timestamp, in environment: String) -> Timestamp {
        environment == Environment.production.rawValue
            ? expiry.adding(days: graceDays) : expiry.adding(seconds: graceDays * 60)
    }

    /// How long Apple goes on trying to charge after expiry (App Store Connect Help, "Reduce involuntary churn").
    static let billingRetryDays: Int64 = 60
    /// How far ahead of a period's start Apple charges for it: a renewal that begins within this counts as begun.
    static let renewsEarlyDays: Int64 = 1
    /// By how much a renewal's beginning may differ from the end that it follows.
    static let seamSeconds: Int64 = 60
    /// For how long an unexplained reported status is believed where no date that it came with lies ahead.
    static let unexplainedDays: Int64 = 1
    /// By how much a purchase's date may lie after the signature of its own record: Apple's clocks, not an early charge.
    package static let clockDifferenceSeconds: Int64 = 60
}
