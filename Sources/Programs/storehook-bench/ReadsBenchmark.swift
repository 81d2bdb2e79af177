import ArgumentParser
import Foundation
import Postgres
import Simulation

/// Whether a question costs the same however many purchases there are.
struct ReadsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reads",
        abstract: "Each documented read in a large database and in a small one.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and some gigabytes there. Both are filled by
            statements of SQL, which takes minutes for a million subscriptions; then each read is put to both of them in turn,
            about another purchase or account each time.

            Example: storehook-bench reads --subscriptions 1000000 --one-time 250000
            """)

    @Option(help: "Subscriptions in the large database.") var subscriptions = 1_000_000
    @Option(help: "Purchases of what is bought once, in the large database.") var oneTime = 250_000
    @Option(help: "Subscriptions in the small database, with a fourth as many purchases of what is bought once.")
    var small = 1000
    @Option(help: "How often each read is asked of each.") var samples = 200

    func validate() throws {
        guard (100...100_000_000).contains(subscriptions), (1...100_000_000).contains(oneTime), small >= 100,
            (5...100_000).contains(samples)
        else { throw ValidationError("--subscriptions and --small begin at 100, --one-time at 1, --samples at 5") }
    }

    func run() async throws {
        let (large, small) = (
            SimulatedState(subscriptions: subscriptions, oneTimePurchases: oneTime),
            SimulatedState(subscriptions: small, oneTimePurchases: small / 4)
        )
        try await BenchDatabase.with(named: "large") { largeDatabase in
            try await fill(large, largeDatabase)
            try await BenchDatabase.with(named: "small") { smallDatabase in
                try await fill(small, smallDatabase)
                try await compare((large, largeDatabase), (small, smallDatabase))
            }
        }
    }

    private func fill(_ state: SimulatedState, _ database: BenchDatabase) async throws {
        let start = ContinuousClock.now
        try await database.pool.withTransaction(TransactionOptions(name: "bench.fill")) { session in
            try session.executeScript(state.script, deadline: .seconds(7200))
        }
        try await database.pool.query("vacuum (analyze)", deadline: .seconds(3600))
        let bytes = try await database.tableBytes()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        StandardError.line(
            "\(state.subscriptions) subscriptions and \(state.oneTimePurchases) others: \(bytes / 1_048_576) MiB, filled in "
                + "\(Int(seconds)) s")
    }

    private func compare(
        _ large: (state: SimulatedState, database: BenchDatabase),
        _ small: (state: SimulatedState, database: BenchDatabase)
    ) async throws {
        let subjects = (
            large: try await subjects(large.state, large.database),
            small: try await subjects(small.state, small.database)
        )
        print(Self.line(["read", "large, ms", "small, ms", "ratio", "pages", "pages, small", "read from end to end"]))
        for read in DocumentedRead.all {
            var times: (large: [Double], small: [Double]) = ([], [])
            for number in 0..<samples {
                // In turn, so that what drifts favours neither.
                times.large.append(try await time(read, subjects.large[number % subjects.large.count], large.database))
                times.small.append(try await time(read, subjects.small[number % subjects.small.count], small.database))
            }
            let plans = (
                large: try await plans(read, subjects.large, large.database),
                small: try await plans(read, subjects.small, small.database)
            )
            let (slow, quick) = (Self.median(times.large), Self.median(times.small))
            print(
                Self.line([
                    read.name, Self.rounded(slow), Self.rounded(quick), Self.rounded(slow / quick),
                    "\(plans.large.map(\.pages).max() ?? 0)", "\(plans.small.map(\.pages).max() ?? 0)",
                    Set(plans.large.flatMap(\.scannedTables)).sorted().joined(separator: " "),
                ]))
        }
        print(
            "\nMedians of \(samples) as a client sees them, planning and the way there included; pages: the most of "
                + "\(Self.explained).")
    }

    /// How many answers PostgreSQL is asked to explain.
    private static let explained = 20

    private func subjects(_ state: SimulatedState, _ database: BenchDatabase) async throws -> [DocumentedRead.Subject] {
        var generator = SystemRandomNumberGenerator()
        let random = (0..<samples).map { _ in Int64.random(in: 0..<Int64.max, using: &generator) }
        return try await database.pool.query(DocumentedRead.subjects(random, of: state))
            .map { try DocumentedRead.Subject($0) }
    }

    /// Milliseconds.
    private func time(
        _ read: DocumentedRead, _ subject: DocumentedRead.Subject, _ database: BenchDatabase
    ) async throws -> Double {
        let query = read.query(subject)
        let start = ContinuousClock.now
        try await database.pool.query(query, deadline: .seconds(60))
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    private func plans(
        _ read: DocumentedRead, _ subjects: [DocumentedRead.Subject], _ database: BenchDatabase
    ) async throws -> [QueryPlan] {
        // On one connection, and without the first plan: it also fills the connection's catalog caches.
        try await database.pool.withConnection { connection in
            var plans: [QueryPlan] = []
            for subject in subjects.prefix(Self.explained + 1) {
                plans.append(try QueryPlan(await connection.query(read.explain(subject), deadline: .seconds(60))))
            }
            return Array(plans.dropFirst())
        }
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func rounded(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }

    /// Columns that stand below one another.
    private static func line(_ cells: [String]) -> String {
        let widths = [44, 11, 11, 8, 8, 14, 0]
        return zip(cells, widths).enumerated().map { place, column in
            let padding = String(repeating: " ", count: max(1, column.1 - column.0.count))
            return place == 0 ? column.0 + padding : place == widths.count - 1 ? "  " + column.0 : padding + column.0
        }.joined()
    }
}
