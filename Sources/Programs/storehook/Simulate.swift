import ArgumentParser
import Foundation
import Simulation

struct Simulate: ActingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make notifications like Apple's, and post them or write them to a file.",
        discussion: """
            They are signed by a root of the simulator's own: trust it through STOREHOOK_TRUSTED_ROOTS, and serve
            com.example.storehook=1234567890. The root's fingerprint is printed on standard error.

            Example: storehook simulate --to http://127.0.0.1:8080/webhooks/apple --notifications 2000 --pki pki
            """)

    @Option(help: "The receiver's URL.") var to: String?
    @Option(help: "A file to write instead: one POST body a line; - for standard output.") var out: String?
    @Option(help: "How many deliveries, repeats included.") var notifications = 1000
    @Option(help: "At most so many a second.") var rate: Double?
    @Option(help: "How many subscribers; a tenth of the notifications by default.") var subscribers: Int?
    @Option(help: "Per cent of the deliveries that repeat an earlier one.") var duplicates = "0"
    @Flag(help: "Deliver in no order at all.") var shuffle = false
    @Option(help: "What decides everything that is left to chance.") var seed: UInt64 = 1
    @Option(help: "A directory with the simulator's certificates and keys; made if it is not there.") var pki: String?
    @Option(help: "Posts under way at once.") var connections = 16

    func validate() throws {
        guard (to == nil) != (out == nil) else { throw ValidationError("say where: --to URL or --out FILE") }
        guard (1...100_000_000).contains(notifications) else {
            throw ValidationError("--notifications must be positive")
        }
        guard percent != nil else { throw ValidationError("--duplicates goes from 0 to 99") }
        try (1...1024).check(connections, "--connections")
        if let subscribers, subscribers < 1 { throw ValidationError("--subscribers must be positive") }
        if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be more than 0") }
    }

    /// `20` and `20%` alike.
    private var percent: Int? {
        Int(duplicates.hasSuffix("%") ? String(duplicates.dropLast()) : duplicates)
            .flatMap { (0...99).contains($0) ? $0 : nil }
    }

    func run() async throws {
        let authority = try pki.map { try SimulatedAuthority.loadOrGenerate(in: $0) } ?? SimulatedAuthority.generate()
        StandardError.line("simulator's root: \(authority.rootFingerprint)")
        let simulation = Simulation(
            seed: seed, subscribers: subscribers, notifications: notifications, duplicatePercent: percent ?? 0,
            order: shuffle ? .shuffled : .signed,
            endingAt: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
        let bodies = SignedBodies(simulation.signedDeliveries(by: authority))
        let progress = ProgressBar("posting", of: notifications)
        if let out {
            try BodyFile.write(bodies, to: out, progress)
        } else if let to {
            let outcome = try await Poster(url: to, connections: connections, rate: rate).post(bodies, progress)
            StandardOutput.line(outcome.text)
            if outcome.accepted < notifications { throw ExitStatus.failed }
        }
    }
}
