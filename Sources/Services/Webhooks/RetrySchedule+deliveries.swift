package import Base

extension RetrySchedule {
    /// When a delivery that failed is tried again: after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours (Standard Webhooks 1.0), each
    /// up to a fifth later.
    package static let deliveries = listed(
        [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { .seconds($0) }, jitter: 1...1.2)

    /// How long a delivery waits after so many failed calls; nil: it is given up.
    ///
    /// - Parameter wish: for how long the endpoint asked (`Retry-After`); it is never called sooner than the schedule has it.
    func pause(afterFailures failures: Int, wish: Duration?) -> Duration? {
        isSpent(afterFailures: failures) ? nil : max(pause(afterFailures: failures), Self.heeded(wish))
    }

    /// What of an endpoint's wish is heeded: no endpoint puts a delivery off by itself for longer than six hours.
    static func heeded(_ wish: Duration?) -> Duration { min(wish ?? .zero, .seconds(6 * 3600)) }
}
