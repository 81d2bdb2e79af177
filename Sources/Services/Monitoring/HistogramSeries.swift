import Metrics
import Synchronization

/// One histogram with its labels.
///
/// An observation is one short lock and no look-up: a lock rather than an atomic for each number, so that what is read is
/// of one moment and the infinite bucket always equals the count.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// What has been observed so far.
    struct Reading: Sendable, Hashable {
        /// Observations in each bucket alone, the infinite one last.
        var counts: [UInt64]
        /// All observations added up.
        var sum = 0.0
    }

    let bounds: [Double]
    private let state: Mutex<Reading>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(Reading(counts: [UInt64](repeating: 0, count: bounds.count + 1)))
    }

    var reading: Reading { state.withLock(\.self) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        // One observation that is no number would make the sum none for ever.
        guard value.isFinite else { return }
        state.withLock { state in
            var index = 0
            while index < bounds.count, value > bounds[index] { index += 1 }
            state.counts[index] += 1
            state.sum += value
        }
    }

    /// Prometheus counts time in seconds.
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
