import ArgumentParser
import EvidenceStore
import Foundation
import Postgres
import Synchronization

/// How fast notifications are stored: durable 200s a second, beside what one psql session reaches with the same statement
/// on the same rows.
struct ReceiveBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Durable 200s a second, and how long each takes.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, psql, and the storehook program beside this
            one. Each round posts for --seconds and then has psql insert as many rows by the receiver's own statement, as
            many at a time as the receiver had on average.

            Example: storehook-bench receive --seconds 5 --rounds 3
            """)

    @Option(help: "Seconds of posting in each round.") var seconds = 5.0
    @Option(help: "Rounds of posting and of inserting by psql, in turn.") var rounds = 3
    @Option(help: "Connections, each with one post under way.") var connections = 32
    @Flag(help: "Store them whole, as until a worker has verified the first signature of these certificates.")
    var unpacked = false
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (0.5...600).contains(seconds), (1...100).contains(rounds), (1...1000).contains(connections) else {
            throw ValidationError("--seconds goes from 0.5 to 600, --rounds to 100, --connections to 1000")
        }
    }

    /// What the rounds add up to.
    private struct Sums {
        var posts = LoadGenerator.Outcome()
        var commits = 0.0
        var receiverCPU = 0.0
        var serverCPU = 0.0
        var wal: Int64 = 0
        var floorRows = 0
        var floorSeconds = 0.0
        var floorServerCPU = 0.0
        var floorPsqlCPU = 0.0
        var alive = LoadGenerator.Outcome()
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        // Signed ones, so that they are as long and as little compressible; the receiver never verifies, and may get each
        // of them many times.
        let sample = try SubscriptionSample()
        let bodies = (0..<256).map { sample.notification(number: $0) }
        let figures = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            if !unpacked {
                // As a worker stores it when it verifies the first of them.
                let header = bodies[0].prefix { $0 != UInt8(ascii: ".") }
                try await database.pool.query(
                    "insert into storehook.signature_headers (header) values (\(Array(header)))")
            }
            let receiver = try programs.receiver(database.url)
            do {
                try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
                let sums = try await measure(bodies, programs, receiver, database)
                await receiver.stop()
                return try await report(sums, bodies[0].count, database)
            } catch {
                await receiver.stop()
                throw error
            }
        }
        figures.print(json: json)
    }

    private func measure(
        _ bodies: [[UInt8]], _ programs: ChaosPrograms, _ receiver: SupervisedProgram, _ database: BenchDatabase
    ) async throws -> Sums {
        let requests = bodies.map(LoadRequest.post)
        let turn = Atomic(0)
        let generator = LoadGenerator(
            port: programs.port, connections: connections, pace: .asFastAsAnswered(seconds: seconds))
        let next: @Sendable () -> [UInt8] = { requests[turn.add(1, ordering: .relaxed).oldValue % requests.count] }
        // Once unmeasured, so that connections, plans and files are there.
        _ = try await LoadGenerator(
            port: programs.port, connections: connections, pace: .asFastAsAnswered(seconds: 1)
        ).run(next)
        var sums = Sums()
        for _ in 0..<rounds {
            guard let id = receiver.id, receiver.starts == 1 else {
                throw NeverCameAbout(what: "a receiver that lives")
            }
            let (commitsBefore, rowsBefore) = try await programs.commits()
            let receiverBefore = ProcessTimes.cpuSeconds(of: id) ?? 0
            let serverBefore = try await database.serverCPUSeconds() ?? 0
            let wal = try await database.walBytes()
            let outcome = try await generator.run(next)
            sums.wal += try await database.walBytes() - wal
            sums.serverCPU += (try await database.serverCPUSeconds() ?? 0) - serverBefore
            sums.receiverCPU += (ProcessTimes.cpuSeconds(of: id) ?? 0) - receiverBefore
            let (commits, rows) = try await programs.commits()
            guard outcome.refused == 0, Int(rows - rowsBefore) == outcome.accepted else {
                throw NeverCameAbout(what: "a 200 for each post and a row for each 200")
            }
            sums.posts.add(outcome)
            sums.commits += commits - commitsBefore
            try await floor(bodies, rows: outcome.accepted, commits: commits - commitsBefore, database, &sums)
            sums.alive.add(
                try await LoadGenerator(
                    port: programs.port, connections: connections, pace: .asFastAsAnswered(seconds: min(seconds, 2))
                ).run { LoadRequest.alive })
        }
        return sums
    }

    /// Has psql insert as many rows in as many commits.
    private func floor(
        _ bodies: [[UInt8]], rows: Int, commits: Double, _ database: BenchDatabase, _ sums: inout Sums
    ) async throws {
        let atATime = max(1, Int((Double(rows) / max(commits, 1)).rounded()))
        let outbox = Outbox(database.pool)
        try await outbox.learnHeaders()
        let stored = outbox.packed(bodies)
        let statements = stride(from: 0, to: bodies.count, by: atATime).map { first in
            let batch = (first..<first + atATime).map { stored[$0 % stored.count] }
            let sql = PostgresQuery.store([]).sql
                .replacing("$1", with: "array[\(batch.map { "\($0.packing)" }.joined(separator: ","))]::int2[]")
                .replacing("$2", with: "array[\(batch.map(Self.literal).joined(separator: ","))]::bytea[]")
                .replacing("$3", with: "'{}'::text[]").replacing("$4", with: "'{}'::bytea[]")
            return Data((sql + ";\n").utf8)
        }
        let batches = rows / atATime
        let serverBefore = try await database.serverCPUSeconds() ?? 0
        let cost = try PsqlSession(url: database.url).run(
            (0..<batches).lazy.map { statements[$0 % statements.count] })
        sums.floorServerCPU += (try await database.serverCPUSeconds() ?? 0) - serverBefore
        sums.floorPsqlCPU += cost.cpuSeconds
        sums.floorRows += batches * atATime
        sums.floorSeconds += cost.seconds
    }

    /// A JWS has no backslash, so as bytea it is itself; in hexadecimal psql would have twice as much to send.
    private static func literal(_ body: StoredBody) -> String {
        guard body.packing != 0 else { return "'\(String(decoding: body.bytes, as: UTF8.self))'" }
        let digits = Array("0123456789abcdef".utf8)
        let hex = body.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "'\\x\(String(decoding: hex, as: UTF8.self))'"
    }

    private func report(_ sums: Sums, _ bytes: Int, _ database: BenchDatabase) async throws -> Figures {
        var figures = Figures("receive")
        let posts = Double(sums.posts.accepted)
        let each = 1_000_000 / posts
        let perSecond = posts / sums.posts.seconds
        let floor = Double(sums.floorRows) / sums.floorSeconds
        figures.add("connections", Double(connections), "connections")
        figures.add("notification_bytes", Double(bytes), "bytes a notification, as posted")
        figures.add("posts", posts, "posts answered 200")
        figures.add("per_second", perSecond, "durable 200s a second")
        figures.add(
            "psql_per_second", floor, "the same rows by the same statement from one psql session, rows a second")
        figures.add("ratio", perSecond / floor, "200s a second over psql's rows a second")
        figures.add(
            "no_op_per_second", Double(sums.alive.accepted) / sums.alive.seconds,
            "GET /healthz over the same connections, answers a second")
        figures.add("rows_per_commit", posts / max(sums.commits, 1), "rows a commit")
        sums.posts.latencies.add(to: &figures, "answered", "post to its 200")
        figures.add("receiver_cpu_us", sums.receiverCPU * each, "receiver's CPU, microseconds a post")
        figures.add("server_cpu_us", sums.serverCPU * each, "PostgreSQL's CPU, microseconds a post")
        figures.add("generator_cpu_us", sums.posts.cpuSeconds * each, "load generator's CPU, microseconds a post")
        let row = 1_000_000 / Double(sums.floorRows)
        figures.add("floor_server_cpu_us", sums.floorServerCPU * row, "PostgreSQL's CPU for psql, microseconds a row")
        figures.add("floor_psql_cpu_us", sums.floorPsqlCPU * row, "psql's CPU, microseconds a row")
        figures.add("wal_bytes", Double(sums.wal) / posts, "WAL, bytes a notification")
        let stored: Int64 = try await database.pool.query("select count(*) from storehook.outbox").one().decode(0)
        figures.add(
            "table_bytes", Double(try await database.tableBytes()) / Double(stored),
            "tables with indexes, bytes a notification")
        return figures
    }
}

extension LoadGenerator.Outcome {
    /// Adds another run of the same kind.
    mutating func add(_ other: Self) {
        accepted += other.accepted
        refused += other.refused
        seconds += other.seconds
        cpuSeconds += other.cpuSeconds
        latencies.add(other.latencies)
    }
}

extension ChaosPrograms {
    /// Commits of the receiver so far, and the rows in them, by its own count.
    fileprivate func commits() async throws -> (commits: Double, rows: Double) {
        let page = try await MetricsPage(port: metricsPort)
        return (page["storehook_store_size_count"] ?? 0, page["storehook_store_size_sum"] ?? 0)
    }
}
