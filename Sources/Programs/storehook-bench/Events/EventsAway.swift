import ArgumentParser
import EventStore
import Foundation
import Postgres

/// What the others feel of one endpoint that is away for hours, and how it catches up when it is back.
struct EventsAway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "away",
        abstract: "One endpoint away for six hours: how late the others are, and how it catches up.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, openssl, and the storehook program beside this one.
            Events are written at a steady rate, each in a transaction of its own, and how long each takes from its commit to the
            endpoints that stay is measured there: in turn with all endpoints well, and with one that refuses connections for the first half
            of the time and says nothing for the second. Then that one is back and catches up, first at its rate, then without
            one, while the others are measured on.

            Six hours are not waited for. The endpoint fails in front of the workers until they pause it. Then it is set back, by statements,
            to what the hours leave: its cursor before the --backlog events of them (20 a second for six hours), which were written in
            bulk before, with instants spread over the six hours, and which the others count as having got; failing and paused for six
            hours; probed once a minute, the last time just now. What workers deal out to it by then is waited for. When it is back the
            next probe is due at once rather than within a minute.

            Whatever the times: leaves with 1 if an event is missing anywhere, if an account's come out of order, or if the rate is exceeded.
            More than a second's worth at once, which may have been saved up, counts as exceeding it.

            Example: storehook-bench events away --pairs 3 --seconds 20
            """)

    @Option(help: "Worker processes.") var workers = 2
    @Option(help: "Endpoints that stay.") var others = 3
    @Option(help: "Accounts that events are of.") var accounts = 50_000
    @Option(help: "Events that were written while the endpoint was away.") var backlog = 20 * 6 * 3600
    @Option(help: "Of these, how many it catches up with, the last ones; all by default.") var missed: Int?
    @Option(help: "Events a second at the steady rate.") var rate = 100
    @Option(help: "Seconds at that rate, each time.") var seconds = 60
    @Option(help: "How often each is measured.") var pairs = 3
    @Option(help: "At most so many deliveries a second to the endpoint when it is back.") var catchUpRate = 300
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...32).contains(workers), (1...32).contains(others), (1...1_000_000).contains(accounts),
            (1000...10_000_000).contains(backlog), (1...10_000).contains(rate), (2...3600).contains(seconds),
            (1...100).contains(pairs), (1...100_000).contains(catchUpRate), (missed ?? 1000) >= 1000
        else {
            throw ValidationError(
                "--workers, --others, --accounts, --rate, --pairs and --catch-up-rate begin at 1, --seconds at 2, --backlog and --missed at 1000"
            )
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let (figures, complaints) = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            let site = try await DeliveriesSite.start(programs, database, workplace: workplace, endpoints: others + 1)
            let backlog = AwayBacklog(pool: database.pool, accounts: accounts)
            StandardError.line("writing \(self.backlog) events …")
            try await backlog.prepare()
            let position = try await backlog.write(self.backlog, EventStore(database.pool))
            var running: [SupervisedProgram] = []
            var result = (Figures("away"), [String]())
            do {
                for _ in 0..<workers { running.append(try site.worker()) }
                var measuring = AwayMeasuring(
                    AwaySite(site, backlog, running), since: position, rate: rate, seconds: seconds)
                try await measuring.compare(pairs: pairs)
                if let missed, missed < self.backlog { try await measuring.forget(allBut: missed) }
                try await measuring.catchUp(rate: catchUpRate)
                result = (measuring.figures, measuring.complaints)
            } catch {
                for program in running { await program.stop() }
                throw error
            }
            for program in running { await program.stop() }
            for endpoint in site.endpoints { await endpoint.receiver.stop() }
            return result
        }
        figures.print(json: json)
        for complaint in complaints { StandardError.line("failed: \(complaint)") }
        if !complaints.isEmpty { throw ExitCode.failure }
    }
}
