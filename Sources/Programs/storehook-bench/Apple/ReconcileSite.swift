import EvidenceStore
import Foundation
import Glibc
import Postgres

/// The set-up in which reconciliation is measured. Each run has its own database, a receiver, workers, and a stand-in
/// for Apple that lists the same history each time.
struct ReconcileSite {
    let programs: ChaosPrograms
    let notifications: Int
    let loss: Double
    let seed: UInt64
    /// When the last notification was signed, in milliseconds since 1970.
    let end: Int64
    let workers: Int
    /// The content of a database that received everything; nil where nothing is compared.
    var whole: [String: String]?
    var figures = Figures("reconcile")
    private(set) var complaints: [String] = []

    /// The most that the asking process may hold.
    private static let memoryLimit: Int64 = 200 << 20
    /// Apple's limit in Production, and the share of it that is used.
    private static let requestsPerSecond = 50 * 0.5
    /// What a page holds at most.
    private static let pageSize = 20

    init(
        programs: ChaosPrograms, notifications: Int, loss: Double, seed: UInt64, end: Int64, workers: Int
    ) {
        self.programs = programs
        self.notifications = notifications
        self.loss = loss
        self.seed = seed
        self.end = end
        self.workers = workers
    }

    // MARK: - Runs

    /// - Returns: what a database holds to which nothing was lost.
    mutating func hearingEverything() async throws -> [String: String] {
        let site = self
        let (truth, complaints) = try await BenchDatabase.with(named: "whole") { database in
            try await BenchApple.with(site.programs, notify: site.programs.url) { apple in
                let lost = try await site.hear(apple, database)
                var complaints = lost == 0 ? [] : ["\(lost) posts got lost though none was to be"]
                complaints += try await site.imbalance(database, "whole")
                return (try await database.truth(), complaints)
            }
        }
        self.complaints += complaints
        return truth
    }

    /// Some posts are lost; the command fetches them, and then finds nothing.
    mutating func lost() async throws {
        let site = self
        try await played("lost") { database, apple in
            var result = Played()
            let lost = try await site.hear(apple, database)
            result.figures.append(("lost_posts", Double(lost), "lost: posts lost on the way"))
            if let whole = site.whole, lost > 0, try await database.truth() == whole {
                result.complaints.append("lost: what is lost makes no difference")
            }
            let settings = try apple.settings()
            let first = try await MeasuredProgram.run(
                ["reconcile", "--format", "json"], site.programs, database.url, settings)
            try await site.untilDone(database)
            result.judge("lost", first, recovered: try await site.recovered(database), expected: lost)
            result.figures += try await site.cost("lost", first, database)
            result.complaints += try await site.unproven(database, "lost")
            let stored = try await site.stored(database)
            let second = try await MeasuredProgram.run(
                ["reconcile", "--since", "2000-01-01T00:00:00Z", "--format", "json"], site.programs, database.url,
                settings)
            if second.status != 0 { result.complaints.append("lost: the second run left with \(second.status)") }
            let more = try await site.stored(database) - stored
            result.figures.append(("lost_second_stored", Double(more), "lost: stored by a second run over everything"))
            if more != 0 { result.complaints.append("lost: a second run stored \(more)") }
            return result
        }
    }

    /// A worker that fetches what is lost is killed every two seconds, until all is proven and done.
    mutating func killed() async throws {
        let end = PostgresTimestamp(millisecondsSince1970: end)
        let site = self
        try await played("killed") { database, apple in
            var result = Played()
            let lost = try await site.hear(apple, database)
            let worker = try site.programs.supervised(["work"], database.url, with: try apple.settings())
            let start = ContinuousClock.now
            var kills = 0
            do {
                while try await !site.isProven(database, upTo: end) {
                    guard ContinuousClock.now - start < .seconds(ReconcileBenchmark.patience) else {
                        throw NeverCameAbout(what: "all is proven though the worker is killed every two seconds")
                    }
                    try await Task.sleep(for: .seconds(2))
                    worker.signal(SIGKILL)
                    kills += 1
                }
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                try await patiently("the queue is empty", within: .seconds(600)) {
                    try await Outbox(database.pool).queue.pending() == 0
                }
                await worker.stop()
                result.figures.append(("killed_times", Double(kills), "killed: times that the worker was killed"))
                result.figures.append(("killed_seconds", seconds, "killed: seconds until all was proven"))
            } catch {
                await worker.stop()
                throw error
            }
            let recovered = try await site.recovered(database)
            if recovered != lost { result.complaints.append("killed: \(recovered) recovered of \(lost) lost") }
            return result
        }
    }

    /// Nothing was ever posted.
    mutating func alone() async throws {
        let site = self
        try await played("alone", posting: false) { database, apple in
            var result = Played()
            try await apple.list(site.notifications, seed: site.seed, endingAt: site.end, isPosted: false)
            let working = try (0..<site.workers).map { _ in try site.programs.supervised(["work"], database.url) }
            do {
                let run = try await MeasuredProgram.run(
                    ["reconcile", "--format", "json"], site.programs, database.url, try apple.settings())
                result.judge("alone", run, recovered: try await site.recovered(database), expected: site.notifications)
                result.figures += try await site.cost("alone", run, database)
                let peaks = working.compactMap { $0.id.flatMap(ProcessMemory.peak) }
                result.figures.append(
                    (
                        "alone_worker_peak_mib", Double(peaks.max() ?? 0) / 1_048_576,
                        "alone: the most a worker held, MiB"
                    ))
                result.complaints += site.limits("alone", run, try await site.requests(database))
                try await patiently("the queue is empty", within: .seconds(ReconcileBenchmark.patience)) {
                    try await Outbox(database.pool).queue.pending() == 0
                }
                for program in working { await program.stop() }
            } catch {
                for program in working { await program.stop() }
                throw error
            }
            result.complaints += try await site.unproven(database, "alone")
            return result
        }
    }

    // MARK: -

    /// What a run came to.
    private struct Played {
        var figures: [(name: String, value: Double, text: String)] = []
        var complaints: [String] = []

        mutating func judge(_ name: String, _ run: MeasuredProgram, recovered: Int, expected: Int) {
            figures.append(("\(name)_recovered", Double(recovered), "\(name): recovered"))
            if run.status != 0 {
                complaints.append("\(name): storehook reconcile left with \(run.status): \(run.output)")
            }
            if recovered != expected { complaints.append("\(name): \(recovered) recovered of \(expected)") }
        }
    }

    /// Performs a run in its own database, and compares the resulting content.
    private mutating func played(
        _ name: String, posting: Bool = true, _ body: (BenchDatabase, BenchApple) async throws -> Played
    ) async throws {
        let site = self
        let played = try await BenchDatabase.with(named: name) { database in
            try await BenchApple.with(
                site.programs, notify: posting ? site.programs.url : nil, loss: posting ? site.loss : 0
            ) {
                apple in
                var played = try await body(database, apple)
                played.complaints += try await site.imbalance(database, name)
                if let whole = site.whole {
                    let differing = BenchDatabase.differences(whole, try await database.truth())
                    played.figures.append(
                        (
                            "\(name)_differing_tables", Double(differing.count),
                            "\(name): tables that differ from no loss"
                        ))
                    if !differing.isEmpty {
                        played.complaints.append(
                            "\(name): \(differing.joined(separator: ", ")) differ from a run without loss")
                    }
                }
                return played
            }
        }
        for figure in played.figures { figures.add(figure.name, figure.value, figure.text) }
        complaints += played.complaints
    }

    /// Has the stand-in post its history to a receiver, and workers apply it.
    /// - Returns: how many posts were lost.
    private func hear(_ apple: BenchApple, _ database: BenchDatabase) async throws -> Int {
        let receiver = try programs.receiver(database.url)
        do {
            try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
            try await apple.list(notifications, seed: seed, endingAt: end, isPosted: true)
            try await patiently("all is posted", within: .seconds(ReconcileBenchmark.patience)) {
                let posts = try await apple.posts()
                return posts.arrived + posts.lost >= posts.listed
            }
            try await untilDone(database)
            await receiver.stop()
        } catch {
            await receiver.stop()
            throw error
        }
        return try await apple.posts().lost
    }

    /// Lets workers do all there is to do.
    private func untilDone(_ database: BenchDatabase) async throws {
        let working = try (0..<workers).map { _ in try programs.supervised(["work"], database.url) }
        do {
            try await patiently("the queue is empty", within: .seconds(ReconcileBenchmark.patience)) {
                try await Outbox(database.pool).queue.pending() == 0
            }
            for program in working { await program.stop() }
        } catch {
            for program in working { await program.stop() }
            throw error
        }
    }

    // MARK: - Questions

    private func imbalance(_ database: BenchDatabase, _ name: String) async throws -> [String] {
        let counted = try await Outbox(database.pool).conservation(audit: true)
        return counted.isWhole ? [] : ["\(name): conservation does not hold: \(counted)"]
    }

    private func recovered(_ database: BenchDatabase) async throws -> Int {
        Int(
            try await database.pool.query(
                "select coalesce(sum(recovered), 0)::bigint from storehook.history_windows"
            ).one().decode(0, as: Int64.self))
    }

    private func stored(_ database: BenchDatabase) async throws -> Int64 {
        try await database.pool.query("select count(*) from storehook.outbox", deadline: .seconds(120)).one().decode(0)
    }

    private func unproven(_ database: BenchDatabase, _ name: String) async throws -> [String] {
        let isProven = try await isProven(database, upTo: PostgresTimestamp(millisecondsSince1970: end))
        return isProven ? [] : ["\(name): proven_until does not say that all is held"]
    }

    private func isProven(_ database: BenchDatabase, upTo end: PostgresTimestamp) async throws -> Bool {
        try await database.pool.query(
            "select coalesce(bool_and(proven_until > \(end)), false) from storehook.proven_until"
        ).one().decode(0)
    }

    /// How many requests all windows took, each once.
    private func requests(_ database: BenchDatabase) async throws -> Double {
        try await database.pool.query(
            """
            select coalesce(sum(greatest(1, ceil(listed / \(Double(Self.pageSize))))), 0)::double precision
              from storehook.history_windows
            """
        ).one().decode(0)
    }

    private func cost(
        _ name: String, _ run: MeasuredProgram, _ database: BenchDatabase
    ) async throws -> [(name: String, value: Double, text: String)] {
        let requests = try await requests(database)
        return [
            ("\(name)_requests", requests, "\(name): requests to Apple"),
            ("\(name)_seconds", run.seconds, "\(name): seconds that storehook reconcile took"),
            ("\(name)_limit_seconds", requests / Self.requestsPerSecond, "\(name): seconds that the rate limit allows"),
            ("\(name)_peak_mib", Double(run.peak) / 1_048_576, "\(name): the most that it held, MiB"),
        ]
    }

    private func limits(_ name: String, _ run: MeasuredProgram, _ requests: Double) -> [String] {
        var complaints: [String] = []
        if run.peak >= Self.memoryLimit { complaints.append("\(name): it held \(run.peak >> 20) MiB") }
        // Half a minute for what comes before and after the asking.
        if run.seconds > requests / Self.requestsPerSecond * 1.1 + 30 {
            complaints.append("\(name): it took \(Int(run.seconds)) s, which the rate limit does not explain")
        }
        return complaints
    }
}
