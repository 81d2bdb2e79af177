/// All latencies are kept, so that a rare long one can be distinguished from a rarer longer one. Five minutes of
/// fifteen thousand a second are 18 MB.
struct Latencies: Sendable {
    /// Microseconds, to an hour.
    private var recorded: [UInt32] = []

    mutating func record(_ latency: Duration) { record(microseconds: Int64(latency / .microseconds(1))) }

    mutating func record(microseconds: Int64) { recorded.append(UInt32(min(max(microseconds, 0), 3_600_000_000))) }

    mutating func add(_ other: Latencies) { recorded += other.recorded }

    /// How many were recorded.
    var count: Int { recorded.count }

    /// Milliseconds that so many in a hundred do not exceed; 0 where none was recorded.
    func milliseconds(percentile: Double) -> Double { Self.milliseconds(percentile, of: recorded.sorted()) }

    /// By nearest rank: the smallest value that at least so many in a hundred do not exceed.
    private static func milliseconds(_ percentile: Double, of sorted: [UInt32]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((percentile / 100 * Double(sorted.count)).rounded(.up))
        return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1000
    }

    /// Adds percentiles to figures.
    /// - Parameters:
    ///   - name: the members' names in JSON begin with it.
    ///   - text: what people read, before the percentile.
    func add(to figures: inout Figures, _ name: String, _ text: String) {
        let sorted = recorded.sorted()
        for (percentile, member) in [(50.0, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9"), (100, "max")] {
            figures.add("\(name)_\(member)_ms", Self.milliseconds(percentile, of: sorted), "\(text), \(member), ms")
        }
    }
}
