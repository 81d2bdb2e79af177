import Base
package import Metrics

/// What is counted of callers' credentials. Every series is made here, at 0.
package final class CallerMetrics: Sendable {
    private let refused: [TokenRefusal: Counter]
    private let keys: [Bool: Counter]
    private let keyCount: Meter
    private let staleSince: Meter

    /// Counters of a factory.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        refused = Dictionary(
            uniqueKeysWithValues: TokenRefusal.allCases.map {
                (
                    $0,
                    Counter(
                        label: "storehook_api_refused_tokens_total", dimensions: [("reason", $0.rawValue)],
                        factory: factory)
                )
            })
        keys = Dictionary(
            uniqueKeysWithValues: [(true, "read"), (false, "failed")].map {
                (
                    $0.0,
                    Counter(
                        label: "storehook_api_key_readings_total", dimensions: [("outcome", $0.1)], factory: factory)
                )
            })
        keyCount = Meter(label: "storehook_api_token_keys", factory: factory)
        staleSince = Meter(label: "storehook_api_token_keys_stale_since_seconds", factory: factory)
    }

    /// A token was not accepted.
    func refused(_ refusal: TokenRefusal) { refused[refusal]?.increment() }

    /// The keys of tokens were read, or could not be.
    package func readKeys(_ isRead: Bool, _ standing: TokenKeys.Standing) {
        keys[isRead]?.increment()
        let (count, since): (Int, Timestamp?) =
            switch standing {
            case .none, .withdrawn: (0, nil)
            case .good(let count): (count, nil)
            case .stale(let count, let since, _): (count, since)
            }
        keyCount.set(count)
        staleSince.set(since.map { Double($0.millisecondsSince1970 / 1000) } ?? 0)
    }
}
