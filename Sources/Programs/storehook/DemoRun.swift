import ArgumentParser
import Foundation
import Ledger
import Operations
import Outbox
import Queue
import Simulator

struct DemoRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Post simulated notifications to a receiver, and tell what became of them.",
        discussion: """
            A receiver and a worker on the same database run already, and serve com.example.storehook=1234567890 under the
            simulator's root. Exits with 0 only if every notification is accounted for: stored, done, and in one place.

            Example: storehook demo --to http://127.0.0.1:8080/webhooks/apple --notifications 2000 --pki pki
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "The receiver's URL.") var to: String
    @Option(help: "How many, repeats included.") var notifications = 2000
    @Option(help: "A directory with the simulator's certificates and keys; made if it is not there.") var pki: String
    @Option(help: "Give up once the workers have done nothing for so many seconds.") var patience = 120.0

    func validate() throws {
        guard (1...100_000_000).contains(notifications) else {
            throw ValidationError("--notifications must be positive")
        }
        guard patience > 0, patience.isFinite else { throw ValidationError("--patience must be more than 0") }
    }

    func run() async throws {
        let authority = try SimulatedAuthority.loadOrGenerate(in: pki)
        let isWhole = try await Database.with(try await shared.settings(), size: 2) { pool in
            let outbox = Outbox(pool)
            let before = try await outbox.conservation()
            step("Posting \(notifications) simulated notifications: every fifth a repeat, in no order")
            let posted = try await post(signedBy: authority, seed: UInt64(before.received) + 1)
            detail(posted.text)
            step("Waiting until the workers have done them")
            try await untilDone(outbox)
            let report = DemoReport(
                posted: notifications, accepted: posted.accepted, before: before, after: try await outbox.conservation()
            )
            step("What became of them")
            for line in report.lines { detail(line) }
            detail("subscriptions, by view storehook.subscription_status:")
            for (status, count) in try await LedgerReader(pool).statusCounts() {
                let number = "\(count)"
                detail("  " + String(repeating: " ", count: max(0, 7 - number.count)) + "\(number)  \(status)")
            }
            detail(report.verdict)
            return report.isWhole
        }
        if !isWhole { throw ExitStatus.failed }
    }

    /// Another seed each time, so that a second demonstration is news and not the first one again.
    private func post(signedBy authority: SimulatedAuthority, seed: UInt64) async throws -> Poster.Outcome {
        let simulation = Simulation(
            seed: seed, notifications: notifications, duplicatePercent: 20, order: .shuffled,
            endingAt: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
        return try await Poster(url: to, connections: 16, rate: nil)
            .post(
                SignedBodies(simulation.signedDeliveries(by: authority)), ProgressBar("    posting", of: notifications))
    }

    /// As long as it goes on: a worker that died holds what it had for a lease.
    private func untilDone(_ outbox: Outbox) async throws {
        var (last, since) = (Int64.max, ContinuousClock.now)
        var progress: ProgressBar?
        while true {
            let left = try await outbox.depth().filter { $0.state != .dead }.reduce(0) { $0 + $1.count }
            if progress == nil, left > 0 { progress = ProgressBar("    working", of: Int(left)) }
            if left < last {
                progress?.advance(by: last == .max ? 0 : Int(last - left))
                (last, since) = (left, .now)
            }
            guard left > 0, ContinuousClock.now - since < .seconds(patience) else { break }
            try await Task.sleep(for: .milliseconds(200))
        }
        progress?.finish()
    }

    private func step(_ text: String) { say("==> \(text)") }
    private func detail(_ text: String) { say("    \(text)") }

    /// At once, also into a file that somebody follows.
    private func say(_ text: String) {
        print(text)
        fflush(nil)
    }
}
