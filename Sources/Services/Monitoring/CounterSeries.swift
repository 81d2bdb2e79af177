import Metrics
import Synchronization

/// One counter with its labels.
final class CounterSeries: CounterHandler {
    private let total = Atomic<Int64>(0)

    var value: Double { Double(total.load(ordering: .relaxed)) }

    func increment(by amount: Int64) {
        // A counter that shrinks looks like a restart to Prometheus, and like as many events as it then stands at.
        guard amount > 0 else { return }
        // Wraps around after 292 years of a billion a second.
        total.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() { total.store(0, ordering: .relaxed) }
}
