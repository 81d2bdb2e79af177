import EvidenceStore
import Foundation
import Postgres

/// What an outage of Apple's is played out on: programs that run, and the way between them and Apple.
struct OutageSite: Sendable {
    let programs: ChaosPrograms
    let database: BenchDatabase
    let apple: BenchApple
    let relay: AppleRelay
    let settings: [String: String]
    let posts: PreparedPosts

    /// What was measured while Apple did one thing.
    struct Phase: Sendable {
        /// Applied a second, posted as fast as they are answered, until the last one is applied.
        var perSecond: Double
        /// From stored to applied at the steady rate, in milliseconds.
        var p50: Double
        var p99: Double

        /// The median of each.
        static func median(_ phases: [Phase]) -> Phase {
            func middle(_ value: (Phase) -> Double) -> Double {
                let sorted = phases.map(value).sorted()
                guard !sorted.isEmpty else { return 0 }
                return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
            }
            return Phase(perSecond: middle(\.perSecond), p50: middle(\.p50), p99: middle(\.p99))
        }
    }

    /// Posts at a steady rate, and then as fast as posts are answered.
    func phase(rate: Int, seconds: Int, burst: Int, connections: Int) async throws -> Phase {
        let posts = posts
        let opens: PostgresTimestamp = try await database.pool.query("select clock_timestamp()").one().decode(0)
        let steady = try await LoadGenerator(
            port: programs.port, connections: connections,
            pace: .steady(perSecond: Double(rate), count: rate * seconds)
        ).run { try posts.next() }
        try await untilApplied()
        let latencies = try await database.appliedAfter(since: opens).latencies
        let start = ContinuousClock.now
        // A rate that is never reached: each connection posts again as soon as it has an answer.
        let fast = try await LoadGenerator(
            port: programs.port, connections: connections, pace: .steady(perSecond: 1_000_000, count: burst)
        ).run { try posts.next() }
        try await untilApplied()
        let taken = (ContinuousClock.now - start) / .seconds(1)
        guard steady.refused == 0, fast.refused == 0 else {
            throw NeverCameAbout(what: "every post answered 200; \(steady.refused + fast.refused) were not")
        }
        return Phase(
            perSecond: Double(burst) / taken, p50: latencies.milliseconds(percentile: 50),
            p99: latencies.milliseconds(percentile: 99))
    }

    private func untilApplied() async throws {
        try await patiently("the queue is empty", within: .seconds(600)) {
            try await Outbox(database.pool).queue.pending() == 0
        }
    }

    /// Waits until nothing is due any more: all windows are proven, a test notification requested since has arrived,
    /// and the outcome of the extension is known.
    /// - Returns: seconds it took, and what was left at the end.
    func untilEverythingIsDone(within limit: Duration) async throws -> (seconds: Double, left: [String]) {
        let back: PostgresTimestamp = try await database.pool.query("select clock_timestamp()").one().decode(0)
        let start = ContinuousClock.now
        var left = ["nothing was looked at"]
        while !left.isEmpty, ContinuousClock.now - start < limit {
            left = try await due(since: back)
            if !left.isEmpty { try await Task.sleep(for: .milliseconds(250)) }
        }
        return ((ContinuousClock.now - start) / .seconds(1), left)
    }

    private func due(since back: PostgresTimestamp) async throws -> [String] {
        let questions: [(String, PostgresQuery)] = [
            (
                "windows of Apple's history that are not proven",
                "select coalesce(sum(unproven_windows), 1)::bigint from storehook.proven_until"
            ),
            (
                "test notifications that have not come through",
                """
                select case when exists (select from storehook.canaries where outcome = 'applied' and asked_at > \(back))
                            then 0 else 1 end::bigint
                """
            ),
            ("extensions that are not finished", "select count(*) from storehook.extensions where settled_at is null"),
            ("extensions that were never recorded", "select (count(*) = 0)::integer::bigint from storehook.extensions"),
            ("purchases to ask about", "select count(*) from storehook.refresh_queue"),
            ("notifications to apply", "select count(*) from storehook.outbox_queue"),
        ]
        var left: [String] = []
        for (what, question) in questions {
            let count: Int64 = try await database.pool.query(question).one().decode(0)
            if count > 0 { left.append("\(count) \(what)") }
        }
        return left
    }
}
