import AppStorePayloads
import Base

/// What the operator decides about events; all else is written at ``SubscriptionEvents``, ``OneTimePurchaseEvents`` and ``AccountEvents``.
public struct EventRules: Sendable, Hashable {
    /// So many days before its end a subscription that nothing is going to renew is said to end soon; each once an end.
    public var warningDays: Set<Int64>
    /// An event reported later than so many seconds after its instant is marked as late.
    public var lateAfterSeconds: Int64
    /// How far the instant up to which events are reported lies behind the clock, in milliseconds: that counts as
    /// delay, too.
    public var lagMilliseconds: Int64

    /// Rules.
    public init(warningDays: Set<Int64> = [7], lateAfterSeconds: Int64 = 60, lagMilliseconds: Int64 = 0) {
        self.warningDays = warningDays
        self.lateAfterSeconds = lateAfterSeconds
        self.lagMilliseconds = lagMilliseconds
    }

    func isLate(_ instant: Timestamp, at now: Timestamp) -> Bool {
        now.milliseconds(since: instant) + lagMilliseconds > lateAfterSeconds * 1000
    }
}
