import Foundation

/// The steps of a measurement with an endpoint that goes away, and what they came to.
struct AwayMeasuring {
    private let site: AwaySite
    /// After which position everything is missed.
    private var position: Int64
    private let rate: Int
    private let seconds: Int
    private(set) var figures = Figures("away")
    /// What must hold and did not.
    private(set) var complaints: [String] = []
    private var base: [AwaySite.Pace] = []

    /// - Parameters:
    ///   - rate: events a second.
    ///   - seconds: for how long, each time.
    init(_ site: AwaySite, since position: Int64, rate: Int, seconds: Int) {
        self.site = site
        self.position = position
        self.rate = rate
        self.seconds = seconds
    }

    /// All endpoints well, and one away, in turn.
    mutating func compare(pairs: Int) async throws {
        // Connections, plans and caches come about here.
        _ = try await site.pace(rate, seconds: min(seconds, 10))
        var away: [AwaySite.Pace] = []
        var rows = 0
        for pair in 1...pairs {
            let well = try await site.pace(rate, seconds: seconds)
            tell("\(pair): all well", well)
            base.append(well)
            try await site.goAway(since: position, at: rate)
            let refusing = try await site.pace(rate, seconds: seconds / 2)
            tell("\(pair): one refuses", refusing)
            try await site.away.receiver.turn(.hangs)
            let hanging = try await site.pace(rate, seconds: seconds - seconds / 2)
            tell("\(pair): one hangs", hanging)
            away.append(refusing + hanging)
            rows = max(rows, try await site.rowsWaiting())
            // The last time it stays away, and comes back to what it has missed.
            if pair < pairs { try await site.comeBackToNothing() }
        }
        add("away", "one away", away)
        figures.add("away_rows", Double(rows), "rows that wait for the one that is away, at most")
    }

    /// Reduces what the endpoint has missed to so many events.
    mutating func forget(allBut count: Int) async throws {
        position = try await max(position, site.backlog.last() - Int64(count))
        try await site.backlog.pass(site.away.id, since: position)
    }

    /// The endpoint is back, with a rate and without; and when it has got everything, whether that is so.
    mutating func catchUp(rate limit: Int) async throws {
        try await site.comeBack(rate: limit)
        let limited = try await site.pace(rate, seconds: seconds)
        tell("back, at its rate", limited)
        let came = site.away.receiver.read()
        if let first = came.first, let last = came.last, last > first {
            figures.add(
                "rate_per_second", Double(came.posts) / ((last - first) / .seconds(1)),
                "back with a rate of \(limit)/s: deliveries a second")
            let most = Self.most(of: came, within: .seconds(1))
            figures.add("rate_most", Double(most), "at most within a second")
            let isLeft = try await site.isBehind()
            figures.add("rate_is_left", isLeft ? 1 : 0, "whether there was more all that time (1: yes)")
            if came.posts > Int(Double(limit) * ((last - first) / .seconds(1) + 1)) + 1 {
                complaints.append("the rate of \(limit)/s was exceeded: \(came.posts) in \(last - first)")
            }
            if most > 2 * limit + 1 { complaints.append("the rate of \(limit)/s was exceeded: \(most) in a second") }
        } else {
            complaints.append("nothing came to the endpoint that was back")
        }
        add("limited", "back with a rate", [limited])
        try await unlimited()
    }

    private mutating func unlimited() async throws {
        let before = site.away.receiver.posts
        let begun = ContinuousClock.now
        try await site.limit(nil)
        let free = try await site.pace(rate, seconds: seconds)
        tell("back, without a rate", free)
        add("free", "back without a rate", [free])
        try await patiently("it has got everything", within: .seconds(3600)) { [site] in try await !site.isBehind() }
        let came = site.away.receiver.read()
        if let last = came.last {
            figures.add(
                "free_per_second", Double(came.posts - before) / ((last - begun) / .seconds(1)),
                "back without a rate: deliveries a second")
        }
        let order = AwayOrder(came.order, try await site.backlog.told(since: position))
        figures.add("told", Double(order.told), "events that it had to catch up with, and that were told meanwhile")
        figures.add("twice", Double(came.posts - came.order.count), "of them came more than once")
        figures.add("missing", Double(order.missing), "did not come")
        figures.add("misplaced", Double(order.misplaced), "came out of their account's order")
        if !order.holds {
            complaints.append(
                "\(order.missing) missing, \(order.misplaced) out of order, \(order.unknown) that were not written")
        }
    }

    /// The most that came within so long.
    private static func most(of arrivals: DeliveriesReceiver.Arrivals, within span: Duration) -> Int {
        let instants = arrivals.at.values.sorted()
        var (first, most) = (0, 0)
        for (last, instant) in instants.enumerated() {
            while instants[first] < instant - span { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    private func tell(_ text: String, _ pace: AwaySite.Pace) {
        let (p50, p99) = (pace.latencies.milliseconds(percentile: 50), pace.latencies.milliseconds(percentile: 99))
        StandardError.line("\(text): p50 \(p50) ms, p99 \(p99) ms")
    }

    /// Medians, and how they compare to when all was well.
    private mutating func add(_ name: String, _ text: String, _ paces: [AwaySite.Pace]) {
        for percentile in [50, 99] {
            func milliseconds(_ pace: AwaySite.Pace) -> Double {
                pace.latencies.milliseconds(percentile: Double(percentile))
            }
            let well = Self.median(base.map(milliseconds))
            if name == "away" {
                figures.add("well_p\(percentile)_ms", well, "all well: from commit to the others, p\(percentile), ms")
            }
            let value = Self.median(paces.map(milliseconds))
            figures.add("\(name)_p\(percentile)_ms", value, "\(text): from commit to the others, p\(percentile), ms")
            figures.add(
                "\(name)_p\(percentile)_ratio", value / max(well, 0.001), "\(text): ratio to all well, p\(percentile)")
        }
        if name == "away", let first = base.first {
            figures.add(
                "well_memory_mib", Self.mebibytes(first.memory.after), "all well: the workers' memory together, MiB")
        }
        let (before, after) = (paces.map(\.memory.before), paces.map(\.memory.after))
        figures.add(
            "\(name)_memory_before_mib", Self.mebibytes(before.max() ?? 0), "\(text): the same before, at most, MiB")
        figures.add("\(name)_memory_mib", Self.mebibytes(after.max() ?? 0), "\(text): the same after, at most, MiB")
        let missing = paces.map(\.missing).reduce(0, +) + (name == "away" ? base.map(\.missing).reduce(0, +) : 0)
        figures.add("\(name)_missing", Double(missing), "\(text): events that did not come to one of the others")
        if missing > 0 { complaints.append("\(missing) events did not come to others (\(text))") }
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    private static func mebibytes(_ bytes: Int64) -> Double { Double(bytes) / 1_048_576 }
}
