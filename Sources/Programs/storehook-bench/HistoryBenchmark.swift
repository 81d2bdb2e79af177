import ArgumentParser
import Foundation
import Postgres
import PurchaseStore
import Simulation

/// Whether a renewal costs more, the longer its purchase has lasted.
struct HistoryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "CPU of applying one renewal to purchases of so many periods.",
        discussion: """
            Needs DATABASE_URL of a server on this machine on which a database may be created. Purchases of each length renew
            in batches of one renewal each, the lengths in turn, among 25,000 others.

            Example: storehook-bench history --periods 10,100,500,2000
            """)

    @Option(help: "Periods that a purchase has had, separated by commas; the first is what the rest are compared with.")
    var periods = "10,100,500,2000"
    @Option(help: "Purchases of each length; as many renew at a time.") var purchases = 25
    @Option(help: "How often each of them renews.") var renewals = 20
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard !lengths.isEmpty, lengths.allSatisfy({ (1...100_000).contains($0) }), (1...1000).contains(purchases),
            (1...1000).contains(renewals)
        else { throw ValidationError("--periods is a list of numbers, and each number is positive") }
    }

    private var lengths: [Int] {
        let numbers = periods.split(separator: ",").map { Int($0) }
        return numbers.contains(nil) ? [] : numbers.compactMap(\.self)
    }

    /// Purchases of one length, and what their renewals have cost.
    private struct Group {
        let periods: Int
        var purchases: [RenewingPurchase]
        var own = 0.0
        var server = 0.0
    }

    func run() async throws {
        var groups: [Group] = []
        for (place, periods) in lengths.enumerated() {
            let numbers = (0..<purchases).map { place * purchases + $0 + 1 }
            groups.append(Group(periods: periods, purchases: numbers.map { RenewingPurchase($0) }))
        }
        let measured = try await BenchDatabase.with { database in
            // In a database of long purchases alone the planner would rightly read them whole.
            try await database.pool.withTransaction(TransactionOptions(name: "bench.fill")) { session in
                let others = SimulatedState(subscriptions: 20_000, oneTimePurchases: 5000)
                try session.executeScript(others.script, deadline: .seconds(300))
            }
            return try await database.pool.withConnection { try await renew(groups, $0) }
        }
        report(measured).print(json: json)
    }

    private func renew(_ groups: [Group], _ connection: PostgresConnection) async throws -> [Group] {
        var groups = groups
        let ledger = Ledger()
        for place in groups.indices {
            for number in groups[place].purchases.indices {
                var rest = groups[place].periods
                while rest > 0 {
                    let batch = (0..<min(rest, 250)).map { _ in groups[place].purchases[number].next() }
                    rest -= batch.count
                    _ = try await connection.withTransaction { try ledger.apply(batch, $0).outcomes.count }
                }
            }
        }
        // As autovacuum would have.
        try await connection.query("vacuum (analyze)", deadline: .seconds(300))
        let backend: Int32 = try await connection.query("select pg_backend_pid()").one().decode(0)
        // The first round fills caches and is not counted.
        for round in 0...renewals {
            for place in groups.indices {
                var batch: [LedgerEntry] = []
                for number in groups[place].purchases.indices { batch.append(groups[place].purchases[number].next()) }
                let entries = batch
                let before = (own: ProcessTimes.ownCPUSeconds, server: ProcessTimes.threadCPUSeconds(of: backend))
                _ = try await connection.withTransaction { try ledger.apply(entries, $0).outcomes.count }
                let after = (own: ProcessTimes.ownCPUSeconds, server: ProcessTimes.threadCPUSeconds(of: backend))
                guard let first = before.server, let last = after.server else {
                    throw ValidationError("the server must run on this machine, or its CPU cannot be read")
                }
                guard round > 0 else { continue }
                groups[place].own += after.own - before.own
                groups[place].server += last - first
            }
        }
        return groups
    }

    private func report(_ groups: [Group]) -> Figures {
        var figures = Figures("history")
        let each = 1_000_000 / Double(purchases * renewals)
        let base = groups.first.map { $0.own + $0.server } ?? 1
        for group in groups {
            let name = group.periods
            figures.add("own_cpu_us_\(name)", group.own * each, "\(name) periods: ledger's CPU a renewal, microseconds")
            figures.add(
                "server_cpu_us_\(name)", group.server * each, "\(name) periods: PostgreSQL's CPU, microseconds")
            figures.add(
                "ratio_\(name)", (group.own + group.server) / base,
                "\(name) periods: both, over those of \(groups.first?.periods ?? 0)")
        }
        return figures
    }
}
