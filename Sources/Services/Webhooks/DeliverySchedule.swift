/// When a failed delivery is retried, and when it is given up.
package struct DeliverySchedule: Sendable, Hashable {
    /// The pauses after each failure but the last.
    package var pauses: [Duration]
    /// The longest delay that an endpoint may ask for (`Retry-After`).
    package var longestWish: Duration

    /// A schedule. By default at once and after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours (Standard Webhooks
    /// 1.0).
    package init(
        pauses: [Duration] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { .seconds($0) },
        longestWish: Duration = .seconds(6 * 3600)
    ) {
        self.pauses = pauses
        self.longestWish = longestWish
    }

    /// How many calls until a delivery is given up.
    package var attempts: Int { pauses.count + 1 }

    /// How long to wait after so many failed calls; nil gives the delivery up.
    ///
    /// Up to a fifth longer at random, so that deliveries that failed together do not come back together.
    /// - Parameter wish: the delay that the endpoint asked for; a retry never comes before the schedule's time.
    package func pause(afterFailures failures: Int, wish: Duration? = nil) -> Duration? {
        guard failures < attempts, let pause = pauses.prefix(max(failures, 1)).last else { return nil }
        return max(pause * Double.random(in: 1..<1.2), min(wish ?? .zero, longestWish))
    }
}
