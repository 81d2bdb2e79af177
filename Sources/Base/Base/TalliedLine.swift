/// Decides when something that happens again and again gets a line of the log: the first time, and then once an interval at most, with
/// how often it has happened since the last line.
package struct TalliedLine: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?
    private var unlogged = 0

    /// Nothing has happened yet.
    package init(every interval: Duration) { self.interval = interval }

    /// Notes that it happened so many times more.
    /// - Returns: how often it did since the last line, this time included; nil where no line is to be logged.
    package mutating func count(_ times: Int = 1, at now: ContinuousClock.Instant) -> Int? {
        unlogged += times
        if let last, last.duration(to: now) < interval { return nil }
        defer { (last, unlogged) = (now, 0) }
        return unlogged
    }
}
