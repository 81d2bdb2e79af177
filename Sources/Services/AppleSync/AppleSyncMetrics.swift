import History
package import Metrics

/// What is counted while Apple is asked.
package struct AppleSyncMetrics: Sendable {
    private let listed: [String: Counter]
    private let recovered: [String: Counter]
    private let refused: [String: Counter]
    private let refreshes: [String: Counter]

    private static let environments = ["Production", "Sandbox"]

    /// Every series at 0.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        func counters(_ name: String) -> [String: Counter] {
            Dictionary(
                uniqueKeysWithValues: Self.environments.map { environment in
                    (
                        environment,
                        Counter(
                            label: "storehook_history_\(name)_total", dimensions: [("environment", environment)],
                            factory: factory)
                    )
                })
        }
        listed = counters("listed")
        recovered = counters("recovered")
        refused = counters("refused")
        refreshes = Dictionary(
            uniqueKeysWithValues: ["refreshed", "unknown", "failed"].map { outcome in
                (
                    outcome,
                    Counter(
                        label: "storehook_refreshes_total", dimensions: [("outcome", outcome)], factory: factory)
                )
            })
    }

    /// A page was recorded.
    func count(_ progress: HistoryWalk.Progress, in scope: HistoryScope) {
        listed[scope.environment]?.increment(by: progress.listed)
        recovered[scope.environment]?.increment(by: progress.recovered)
        refused[scope.environment]?.increment(by: progress.refused)
    }

    /// A purchase was asked for: `refreshed`, `unknown` to Apple, or `failed`.
    func refreshed(_ outcome: String) { refreshes[outcome]?.increment() }
}
