import Histogram

/// Latencies to three digits, whatever their size (the idea is HdrHistogram's, hdrhistogram.org), so that a rare long one is
/// told from a rarer longer one.
struct Latencies: Sendable {
    /// Microseconds, to an hour.
    private var histogram = Histogram<UInt64>(
        highestTrackableValue: 3_600_000_000, numberOfSignificantValueDigits: .three)

    mutating func record(_ latency: Duration) { record(microseconds: Int64(latency / .microseconds(1))) }

    mutating func record(microseconds: Int64) {
        _ = histogram.record(UInt64(min(max(microseconds, 0), 3_600_000_000)))
    }

    mutating func add(_ other: Latencies) { histogram.add(other.histogram) }

    /// How many were recorded.
    var count: UInt64 { histogram.totalCount }

    /// Milliseconds that so many in a hundred do not exceed.
    func milliseconds(percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1000 }

    /// Adds percentiles to figures.
    /// - Parameters:
    ///   - name: the members' names in JSON begin with it.
    ///   - text: what people read, before the percentile.
    func add(to figures: inout Figures, _ name: String, _ text: String) {
        for (percentile, member) in [(50.0, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9"), (100, "max")] {
            figures.add("\(name)_\(member)_ms", milliseconds(percentile: percentile), "\(text), \(member), ms")
        }
    }
}
