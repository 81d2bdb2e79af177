/// How long to wait after failures in a row, and after how many it is enough.
///
/// A pause is a limit, which grows with the failures or stands in a list, times a factor that is drawn evenly: what failed together
/// does not come back in step, be it programs that lost the same server or rows that met the same fault.
package struct RetrySchedule: Sendable, Hashable {
    /// The limits of the pauses.
    private enum Limits: Sendable, Hashable {
        case growing(by: Int, from: Duration, upTo: Duration)
        case listed([Duration])
    }

    /// Anything up to the limit (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog 2015).
    package static let fullJitter = 0.0...1
    /// At least half of the limit, so that attempts are not used up early by chance.
    package static let halfJitter = 0.5...1
    /// The limit itself, for a caller that fails alone and not together with others.
    package static let noJitter = 1.0...1

    private let limits: Limits
    /// Attempts until it is given up, the first included; `Int.max`: it never is.
    package let attempts: Int
    /// What a limit is multiplied by: drawn evenly from the lower bound up to the upper, which is excluded.
    package let jitter: ClosedRange<Double>

    private init(_ limits: Limits, attempts: Int, jitter: ClosedRange<Double>) {
        self.limits = limits
        self.attempts = max(attempts, 1)
        self.jitter = jitter
    }

    /// Each limit is twice the one before, up to the longest.
    package static func doubling(
        from first: Duration, upTo longest: Duration, attempts: Int = .max,
        jitter: ClosedRange<Double> = Self.fullJitter
    ) -> RetrySchedule {
        growing(by: 2, from: first, upTo: longest, attempts: attempts, jitter: jitter)
    }

    /// Each limit is `factor` times the one before, up to the longest. A factor below 2 counts as 2.
    package static func growing(
        by factor: Int, from first: Duration, upTo longest: Duration, attempts: Int = .max,
        jitter: ClosedRange<Double> = Self.fullJitter
    ) -> RetrySchedule {
        RetrySchedule(.growing(by: max(factor, 2), from: first, upTo: longest), attempts: attempts, jitter: jitter)
    }

    /// A limit for each failure but the last, after which it is given up.
    package static func listed(
        _ limits: [Duration], jitter: ClosedRange<Double> = Self.noJitter
    ) -> RetrySchedule {
        RetrySchedule(.listed(limits), attempts: limits.count + 1, jitter: jitter)
    }

    /// Whether it is given up after so many failures.
    package func isSpent(afterFailures failures: Int) -> Bool { failures >= attempts }

    /// The limit of the pause after so many failures in a row, counted from 1. Of a list the last holds on.
    package func limit(afterFailures failures: Int) -> Duration {
        switch limits {
        case .growing(let factor, let first, let longest):
            // However many failures: the product must not overflow.
            var limit = first
            for _ in 1..<max(failures, 1) {
                guard limit > .zero, limit < longest else { break }
                limit *= factor
            }
            return min(longest, limit)
        case .listed(let limits): return limits.prefix(max(failures, 1)).last ?? .zero
        }
    }

    /// The pause after so many failures in a row.
    ///
    /// - Parameter chance: from 0 to 1, by chance: which factor is drawn.
    package func pause(afterFailures failures: Int, chance: Double) -> Duration {
        let factor = jitter.lowerBound + (jitter.upperBound - jitter.lowerBound) * min(1, max(0, chance))
        return limit(afterFailures: failures) * factor
    }

    /// The pause after so many failures in a row.
    package func pause(
        afterFailures failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        pause(afterFailures: failures, chance: Double.random(in: 0..<1, using: &generator))
    }

    /// The pause after so many failures in a row, by the system's chance.
    package func pause(afterFailures failures: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return pause(afterFailures: failures, using: &generator)
    }
}
