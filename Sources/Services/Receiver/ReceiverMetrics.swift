import HTTPKit
import Metrics

/// What a receiver counts and measures. Every series is made here, at 0.
struct ReceiverMetrics: Sendable {
    /// What was answered to a post.
    enum Outcome: String, CaseIterable {
        /// 200
        case stored
        /// 400: nothing that Apple sends.
        case malformed
        /// 400: the body did not arrive whole.
        case incomplete
        /// 413
        case tooLarge = "too_large"
        /// 503: as much as may wait was waiting.
        case full
        /// 503: the database did not take it.
        case unavailable
        /// 503: from its sender came too much that did not verify.
        case refused
        /// 503: the receiver was stopping.
        case stopping
    }

    private let received: [Outcome: Counter]
    private let storeSeconds: Recorder
    private let storeSize: Recorder
    /// How many connections are open, and what bounded others.
    let connections: HTTPServerObserver

    init(_ factory: any MetricsFactory) {
        received = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                (
                    $0,
                    Counter(label: "storehook_received_total", dimensions: [("outcome", $0.rawValue)], factory: factory)
                )
            })
        storeSeconds = Recorder(label: "storehook_store_seconds", factory: factory)
        storeSize = Recorder(label: "storehook_store_size", factory: factory)
        let bounded = Dictionary(
            uniqueKeysWithValues: HTTPServerObserver.Limit.allCases.map {
                (
                    $0,
                    Counter(
                        label: "storehook_bounded_connections_total", dimensions: [("limit", $0.rawValue)],
                        factory: factory)
                )
            })
        connections = HTTPServerObserver(open: Meter(label: "storehook_open_connections", factory: factory)) {
            bounded[$0]?.increment()
        }
    }

    func received(_ outcome: Outcome) { received[outcome]?.increment() }

    /// Stores so many notifications by `body`, and measures it if it succeeds.
    func storing(_ count: Int, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        storeSeconds.record((ContinuousClock.now - start) / .seconds(1))
        storeSize.record(count)
    }
}
