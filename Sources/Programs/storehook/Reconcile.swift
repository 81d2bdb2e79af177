import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import Operations
import Pipeline
import Postgres
import PurchaseStore

struct Reconcile: ActingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold what is stored against Apple's notification history, and fetch what is missing.",
        discussion: """
            Workers with a key (STOREHOOK_APPLE_KEYS) do this by themselves, hour by hour; this does it now and up to the
            present. Apple's history reaches back 180 days, in Sandbox 30. What is missing is stored as Apple signed it and
            takes the way of what Apple posts. Whatever ends it, the next run goes on from there. Exits with 1 if something
            could not be proven.

            --check changes nothing: it lists what Apple has and is in no place here, and exits with 1 if there is any.
            What is still waiting for a worker is not missing.

            Example: storehook reconcile --since 2026-01-31T03:00:00Z
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "The app's bundle id; all that keys are set for, by default.") var app: String?
    @Option(
        help:
            "Ask once more about everything from this instant on, ISO 8601 with a zone, also where it is proven already.",
        transform: Timestamp.argument)
    var since: Timestamp?
    @Flag(help: "Only list what is missing.") var check = false
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        let access = try AppleAccess(settings)
        do {
            try await run(settings, access)
            await access.shutdown()
        } catch {
            await access.shutdown()
            if let failure = error as? AppStoreFailure { throw CommandFailure("\(failure)") }
            if let trouble = error as? UnusableAnswer { throw CommandFailure("\(trouble)") }
            if let waiting = error as? TooMuchPending { throw CommandFailure("\(waiting)") }
            throw error
        }
    }

    private func run(_ settings: Settings, _ access: AppleAccess) async throws {
        let clients = access.clients()
        let scopes = clients.scopes.filter { app == nil || $0.bundleID == app }
        guard !scopes.isEmpty else {
            throw CommandFailure("no key is set for \(app ?? "any app"); see STOREHOOK_APPLE_KEYS", status: .usage)
        }
        let since = since.map { PostgresTimestamp($0) }
        try await Database.with(settings) { pool in
            let reconciliation = Reconciliation(History(pool), clients, of: scopes, owner: Operator.name)
            let counter = CountingLine(check ? "listed" : "listed, recovered")
            if check {
                let checks = try await reconciliation.check(since: since) { counter.advance($0.listed) }
                counter.finish()
                output.print(CommandAnswer(checks))
                if !checks.allSatisfy(\.isComplete) { throw ExitStatus.failed }
            } else {
                let proofs = try await reconciliation.run(since: since) { step, left in
                    counter.advance(step.listed, step.recovered, "\(left) windows left")
                }
                counter.finish()
                output.print(CommandAnswer(proofs))
                if proofs.isEmpty || !proofs.allSatisfy(\.isProven) { throw ExitStatus.failed }
            }
        }
    }
}
