import EventStore
package import Metrics
import Postgres
import Synchronization

/// Counts the outcomes of deliveries.
package final class WebhookMetrics: Sendable {
    /// The outcome of a call, or of a delivery.
    enum Outcome: String, CaseIterable {
        /// The endpoint accepted it.
        case delivered
        /// It is retried.
        case failed
        /// It was given up.
        case dead
    }

    private let factory: any MetricsFactory
    private let calls = Mutex<[Int64: [Outcome: Counter]]>([:])
    private let delivery: Recorder
    private let call: Recorder
    private let dealt: Counter

    /// Counts by a factory.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        delivery = Recorder(
            label: "storehook_delivery_seconds", dimensions: [], aggregate: true, factory: factory)
        call = Recorder(
            label: "storehook_delivery_call_seconds", dimensions: [], aggregate: true, factory: factory)
        dealt = Counter(label: "storehook_events_dealt_total", dimensions: [], factory: factory)
    }

    /// Makes the series of an endpoint, at 0.
    func know(_ endpointID: Int64) { _ = counters(endpointID) }

    /// So many calls of an endpoint, or deliveries to it, had this outcome.
    func count(_ outcome: Outcome, _ endpointID: Int64, _ count: Int = 1) {
        if count > 0 { counters(endpointID)[outcome]?.increment(by: count) }
    }

    /// A call took so long.
    func called(_ duration: Duration) { call.record(duration / .seconds(1)) }

    /// An event arrived.
    /// - Parameters:
    ///   - toldAt: when the transaction began that caused it.
    ///   - now: by the database's clock.
    func delivered(toldAt: PostgresTimestamp, now: PostgresTimestamp) {
        delivery.record(max(0, Double(now.microsecondsSince1970 - toldAt.microsecondsSince1970)) / 1e6)
    }

    /// So many events were fanned out, each counted once per endpoint.
    func dealt(_ count: Int) { if count > 0 { dealt.increment(by: count) } }

    private func counters(_ endpointID: Int64) -> [Outcome: Counter] {
        calls.withLock { calls in
            if let known = calls[endpointID] { return known }
            let made = Dictionary(
                uniqueKeysWithValues: Outcome.allCases.map { outcome in
                    (
                        outcome,
                        Counter(
                            label: "storehook_deliveries_total",
                            dimensions: [("endpoint", "\(endpointID)"), ("outcome", outcome.rawValue)],
                            factory: factory)
                    )
                })
            calls[endpointID] = made
            return made
        }
    }
}
