/// How long a row waits after a transient failure, and when it is enough.
///
/// Exponential with full jitter (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog 2015): any delay between
/// nothing and the bound is as likely as any other, so that rows which failed together do not come back together.
public struct RetryPolicy: Sendable, Hashable {
    /// Claims until a row is buried.
    public var maximumAttempts: Int
    /// The bound after the first attempt, in seconds; it doubles with each one.
    public var base: Double
    /// The bound never exceeds this, in seconds.
    public var cap: Double

    /// A policy; 12 attempts with these bounds span about an hour.
    public init(maximumAttempts: Int = 12, base: Double = 1, cap: Double = 900) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.cap = cap
    }

    /// The longest a row waits after its nth attempt, in seconds.
    public func bound(afterAttempt attempt: Int) -> Double {
        // 2^62 seconds is past any cap; the exponent is clamped so that it cannot overflow.
        min(cap, base * Double(1 << min(max(attempt, 1) - 1, 62)))
    }

    /// How long a row waits after its nth attempt, in seconds.
    public func delay(afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Double {
        Double.random(in: 0...bound(afterAttempt: attempt), using: &generator)
    }
}
