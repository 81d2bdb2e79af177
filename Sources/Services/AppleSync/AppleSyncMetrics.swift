import AppleRecords
import Base
package import Metrics

/// What is counted while Apple is asked.
package struct AppleSyncMetrics: Sendable {
    private let listed: [String: Counter]
    private let recovered: [String: Counter]
    private let refused: [String: Counter]
    private let refreshes: [String: Counter]
    private let canaries: [String: [CanaryOutcome: Counter]]
    private let extensions: [String: [String: Counter]]
    private let consumption: [String: [ConsumptionOutcome: Counter]]
    private let canarySeconds: [String: [CanaryStage: Recorder]]

    private static let environments = ["Production", "Sandbox"]

    /// What a test notification came to, as it is counted.
    private enum CanaryOutcome: String, CaseIterable {
        case applied, recovered, overdue
        case deadLetter = "dead_letter"
        case notPosted = "not_posted"

        init(_ outcome: String) { self = Self(rawValue: outcome) ?? .notPosted }
    }

    /// How far it had come after so many seconds.
    private enum CanaryStage: String, CaseIterable { case posted, stored, applied }

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
        func each<Key: CaseIterable & Hashable, Value>(_ make: (String, Key) -> Value) -> [String: [Key: Value]] {
            Dictionary(
                uniqueKeysWithValues: Self.environments.map { environment in
                    (environment, Dictionary(uniqueKeysWithValues: Key.allCases.map { ($0, make(environment, $0)) }))
                })
        }
        canaries = each { environment, end in
            Counter(
                label: "storehook_canaries_total",
                dimensions: [("environment", environment), ("outcome", end.rawValue)], factory: factory)
        }
        consumption = each { environment, outcome in
            Counter(
                label: "storehook_consumption_requests_total",
                dimensions: [("environment", environment), ("outcome", outcome.rawValue)], factory: factory)
        }
        canarySeconds = each { environment, stage in
            Recorder(
                label: "storehook_canary_seconds",
                dimensions: [("environment", environment), ("stage", stage.rawValue)], aggregate: true,
                factory: factory)
        }
        extensions = Dictionary(
            uniqueKeysWithValues: ["one", "all"].map { kind in
                let ends = RenewalExtension.State.allCases.filter { $0.isEnd && $0 != .closed }
                return (
                    kind,
                    Dictionary(
                        uniqueKeysWithValues: ends.map { end in
                            (
                                end.rawValue,
                                Counter(
                                    label: "storehook_extensions_total",
                                    dimensions: [("kind", kind), ("outcome", end.rawValue)], factory: factory)
                            )
                        })
                )
            })
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
    func count(_ progress: HistoryWalk.Progress, in scope: AppEnvironment) {
        listed[scope.environment]?.increment(by: progress.listed)
        recovered[scope.environment]?.increment(by: progress.recovered)
        refused[scope.environment]?.increment(by: progress.refused)
    }

    /// A test notification came to its end.
    func canary(_ outcome: String, _ times: CanaryTimes, in scope: AppEnvironment) {
        let end = CanaryOutcome(outcome)
        canaries[scope.environment]?[end]?.increment()
        // What was fetched, or came another time, says nothing of the way.
        guard end == .applied else { return }
        for (stage, time) in [
            (CanaryStage.posted, times.posted), (.stored, times.stored), (.applied, times.applied),
        ] {
            if let time { canarySeconds[scope.environment]?[stage]?.record(time / .seconds(1)) }
        }
    }

    /// An extension of renewal dates, of `one` or of `all`, came to its end.
    func extended(_ kind: String, _ outcome: String) { extensions[kind]?[outcome]?.increment() }

    /// A request for consumption data came to its end.
    func consumption(_ settled: ConsumptionSettlement) {
        consumption[settled.environment]?[settled.outcome]?.increment()
    }

    /// A purchase was asked for: `refreshed`, `unknown` to Apple, or `failed`.
    func refreshed(_ outcome: String) { refreshes[outcome]?.increment() }
}
