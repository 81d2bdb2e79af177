import ArgumentParser
import Simulation

/// Whether more workers on one queue ever make it slower.
struct ScaleBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Throughput of one worker to four on one queue, in turn, in one run.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and the storehook program beside this one. Each
            backlog has a database of its own; the rounds go up and down in turn, so that drift favours neither side.

            Example: storehook-bench scale --backlog 10000 --rounds 2
            """)

    @Option(help: "Notifications waiting when the workers start.") var backlog = 10_000
    @Option(help: "As many workers at most.") var workers = 4
    @Option(help: "How often each number of workers is measured.") var rounds = 2
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (100...10_000_000).contains(backlog), (1...64).contains(workers), (1...100).contains(rounds) else {
            throw ValidationError("--backlog begins at 100, --workers goes from 1 to 64, --rounds from 1 to 100")
        }
    }

    func run() async throws {
        let authority = try SimulatedAuthority.generate()
        var seconds = [Double](repeating: 0, count: workers)
        var cpu = seconds
        for round in 0..<rounds {
            let numbers = Array(1...workers)
            for number in round.isMultiple(of: 2) ? numbers : numbers.reversed() {
                let run = try await BenchDatabase.with { database in
                    try await DrainRun.measure(backlog, workers: number, batch: 100, seed: 1, authority, database)
                }
                StandardError.line("\(number) of \(workers), round \(round + 1): \(Int(run.perSecond)) a second")
                seconds[number - 1] += run.seconds
                cpu[number - 1] += run.workerCPU + (run.serverCPU ?? 0)
            }
        }
        var figures = Figures("scale")
        figures.add("backlog", Double(backlog), "backlog, notifications")
        let total = Double(backlog * rounds)
        for number in 1...workers {
            figures.add("per_second_\(number)", total / seconds[number - 1], "applied a second by \(number)")
        }
        for number in 1...workers {
            figures.add(
                "cpu_us_\(number)", cpu[number - 1] * 1_000_000 / total,
                "CPU of workers and PostgreSQL with \(number), microseconds a notification")
        }
        figures.print(json: json)
    }
}
