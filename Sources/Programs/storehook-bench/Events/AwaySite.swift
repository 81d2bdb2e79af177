import EventStore
import Foundation
import Postgres

/// Endpoints that stay and one that goes away, the workers that deliver to them, and what is known of both.
struct AwaySite: Sendable {
    let site: DeliveriesSite
    let backlog: AwayBacklog
    let workers: [SupervisedProgram]
    private let events: EventStore
    private let pool: PostgresPool

    init(_ site: DeliveriesSite, _ backlog: AwayBacklog, _ workers: [SupervisedProgram]) {
        self.site = site
        self.backlog = backlog
        self.workers = workers
        pool = site.database.pool
        events = EventStore(pool)
    }

    /// The endpoint that goes away.
    var away: (id: Int64, receiver: DeliveriesReceiver) { site.endpoints[0] }
    /// The others.
    var others: [DeliveriesReceiver] { site.endpoints.dropFirst().map(\.receiver) }

    /// How it went while events were written at a steady rate.
    struct Pace: Sendable {
        /// From each one's commit to its arrival at each of the others.
        var latencies = Latencies()
        /// Events that did not come to one of the others.
        var missing = 0
        /// Bytes that the workers hold together, not counting what they share, before and after.
        var memory: (before: Int64, after: Int64) = (0, 0)

        static func + (a: Pace, b: Pace) -> Pace {
            var sum = a
            sum.latencies.add(b.latencies)
            sum.missing += b.missing
            sum.memory.after = b.memory.after
            return sum
        }
    }

    /// Writes so many events a second, until all of them have arrived at the others.
    func pace(_ rate: Int, seconds: Int) async throws -> Pace {
        for receiver in others { _ = receiver.read(takes: true) }
        var pace = Pace()
        pace.memory.before = memory
        let writing = DeliveriesWriting(site: site, events: events, awaitedBy: others) { [backlog] in
            try await backlog.writeOne(on: $0)
        }
        let committed = try await writing.write(rate * seconds, perSecond: rate)
        pace.memory.after = memory
        for receiver in others {
            let arrivals = receiver.read(takes: true).at
            for (id, instant) in committed {
                if let arrived = arrivals[id] { pace.latencies.record(arrived - instant) } else { pace.missing += 1 }
            }
        }
        return pace
    }

    /// Bytes that the workers hold together, not counting what they share.
    private var memory: Int64 { workers.compactMap { $0.id.flatMap(ProcessMemory.anonymous) }.reduce(0, +) }

    /// Makes the endpoint appear to have been away for hours: no event since that position has been delivered to it.
    func goAway(since position: Int64, at rate: Int) async throws {
        try await away.receiver.turn(.refuses)
        for _ in 0..<60 where try await !isPaused { _ = try await pace(rate, seconds: 1) }
        guard try await isPaused else { throw NeverCameAbout(what: "the endpoint that is away is paused") }
        try await backlog.pass(away.id, since: position)
        // The fan-out to this endpoint happens in the first minutes of its absence, and is not part of the measurement.
        var dealt: Int64 = -1
        for _ in 0..<120 {
            let now = try await dealtTo(away.id)
            if now == dealt { return }
            dealt = now
            try await Task.sleep(for: .seconds(2))
        }
        throw NeverCameAbout(what: "an end to what is dealt out")
    }

    /// The endpoint answers again, with no missed events left to deliver.
    func comeBackToNothing() async throws {
        try await away.receiver.turn(.answers)
        _ = try await EndpointStore(pool).enable(away.id, skipsMissed: true, by: "storehook-bench")
        try await patiently("nothing waits", within: .seconds(60)) {
            try await pool.query("select not exists (select from storehook.delivery_queue)").one().decode(0)
        }
        _ = away.receiver.read(takes: true)
    }

    /// The endpoint answers again, and is probed now.
    /// - Parameter rate: at most so many deliveries a second; nil: as many as it takes.
    func comeBack(rate: Int?) async throws {
        _ = away.receiver.read(takes: true)
        try await limit(rate)
        try await away.receiver.turn(.answers)
        try await pool.query(
            "update storehook.endpoint_health set probe_at = now() where endpoint_id = \(away.id) and paused_at is not null"
        )
        try await patiently("the endpoint that was away is found to be back", within: .seconds(60)) {
            try await !isPaused
        }
    }

    /// Limits the endpoint that was away to so many deliveries a second.
    func limit(_ rate: Int?) async throws {
        try await pool.query(
            "update storehook.endpoints set rate = \(rate.map { Int32(clamping: $0) }) where id = \(away.id)")
        // What workers know of an endpoint is a second old at most.
        try await Task.sleep(for: .milliseconds(1500))
    }

    private var isPaused: Bool {
        get async throws {
            try await pool.query(
                "select paused_at is not null from storehook.endpoint_health where endpoint_id = \(away.id)"
            ).one().decode(0)
        }
    }

    /// Up to which position events were dealt out to an endpoint.
    private func dealtTo(_ endpoint: Int64) async throws -> Int64 {
        try await pool.query("select position from storehook.endpoint_cursors where endpoint_id = \(endpoint)")
            .one().decode(0)
    }

    /// Whether there is anything that the endpoint which goes away has not got.
    func isBehind() async throws -> Bool {
        if try await dealtTo(away.id) < backlog.last() { return true }
        return try await rowsWaiting() > 0
    }

    /// Rows in which it is kept what waits for the endpoint that is away; what is not dealt out to it is none.
    func rowsWaiting() async throws -> Int {
        let count: Int64 = try await pool.query(
            "select count(*) from storehook.deliveries_pending where endpoint_id = \(away.id)"
        ).one().decode(0)
        return Int(count)
    }
}
