package import Metrics

/// What is counted of callers' credentials. Every series is made here, at 0.
package final class CallerMetrics: Sendable {
    private let refused: [TokenRefusal: Counter]
    private let keys: [Bool: Counter]

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
    }

    /// A token was not accepted.
    func refused(_ refusal: TokenRefusal) { refused[refusal]?.increment() }

    /// The keys of tokens were read, or could not be.
    package func readKeys(_ isRead: Bool) { keys[isRead]?.increment() }
}
