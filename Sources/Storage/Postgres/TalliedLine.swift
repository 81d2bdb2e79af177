/// Says when something that happens again and again is worth a line of the log: the first time, and then no more often than an interval,
/// with how often it has happened since.
struct TalliedLine {
    private let interval: Duration
    private var last: ContinuousClock.Instant?
    private var untold = 0

    /// Nothing has happened yet.
    init(every interval: Duration) { self.interval = interval }

    /// It has happened once more. Returns how often it did since the last line, this time included, where there is to be a line.
    mutating func count(at now: ContinuousClock.Instant) -> Int? {
        untold += 1
        if let last, last.duration(to: now) < interval { return nil }
        defer { (last, untold) = (now, 0) }
        return untold
    }
}
