import Synchronization

/// So many requests in a minute, and so many at once, for each of many: a token bucket each, kept as the one instant at which it
/// would be full again.
package final class RateLimit<Key: Hashable & Sendable>: Sendable {
    private let interval: Duration
    private let tolerance: Duration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let buckets: Mutex<BoundedTable<Key, ContinuousClock.Instant>>

    /// - Parameters:
    ///   - perMinute: how many there may be in the long run.
    ///   - burst: how many may come at once.
    ///   - most: how many are remembered; those that came longest ago are forgotten, and begin anew.
    package convenience init(
        perMinute: Int, burst: Int, most: Int = 100_000,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(every: .seconds(60) / max(1, perMinute), burst: burst, most: most, clock: clock)
    }

    /// The same for what may be less often: once each interval in the long run.
    package init(
        every interval: Duration, burst: Int, most: Int = 100_000,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.interval = interval
        tolerance = interval * max(0, burst - 1)
        self.clock = clock
        buckets = Mutex(BoundedTable(most: most))
    }

    /// Counts a request.
    /// - Returns: nil where it may be; else after how long the next one may be. What is refused costs nothing further.
    package func refusal(of key: Key) -> Duration? {
        let now = clock()
        return buckets.withLock { buckets in
            let full = max(now, buckets.value(of: key) ?? now)
            if full - now > tolerance { return full - now - tolerance }
            buckets.put(full + interval, for: key)
            return nil
        }
    }
}
