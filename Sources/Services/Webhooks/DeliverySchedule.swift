/// When a delivery that failed is tried again, and when it is given up.
package struct DeliverySchedule: Sendable, Hashable {
    /// The pauses after each failure but the last.
    package var pauses: [Duration]
    /// The longest that an endpoint may put a delivery off by itself (`Retry-After`).
    package var longestWish: Duration

    /// A schedule; unless told otherwise at once and after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours (Standard Webhooks 1.0).
    package init(
        pauses: [Duration] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { .seconds($0) },
        longestWish: Duration = .seconds(6 * 3600)
    ) {
        self.pauses = pauses
        self.longestWish = longestWish
    }

    /// Calls until a delivery is given up.
    package var attempts: Int { pauses.count + 1 }

    /// How long to wait after so many failed calls; nil: it is given up.
    ///
    /// Up to a fifth longer by chance, so that what failed together does not come back together.
    /// - Parameter wish: for how long the endpoint asked; it is never tried sooner than the schedule has it.
    package func pause(afterFailures failures: Int, wish: Duration? = nil) -> Duration? {
        guard failures < attempts, let pause = pauses.prefix(max(failures, 1)).last else { return nil }
        return max(pause * Double.random(in: 1..<1.2), min(wish ?? .zero, longestWish))
    }
}
