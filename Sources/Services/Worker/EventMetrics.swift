package import EventStore
import Events
package import Metrics

/// The metrics of events: every series is made here, at 0.
package final class EventMetrics: Sendable {
    private let written: [EventKind: Counter]
    private let postponed: Counter

    /// - Parameter factory: where to count.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        written = Dictionary(
            uniqueKeysWithValues: EventKind.allCases.map { kind in
                (
                    kind,
                    Counter(label: "storehook_events_total", dimensions: [("kind", kind.rawValue)], factory: factory)
                )
            })
        postponed = Counter(label: "storehook_events_postponed_total", dimensions: [], factory: factory)
    }

    /// Counts the events of a committed transaction.
    package func count(_ counts: EventCounts) {
        for (line, count) in counts.events { written[line.kind]?.increment(by: count) }
    }

    func postpone() { postponed.increment() }
}
