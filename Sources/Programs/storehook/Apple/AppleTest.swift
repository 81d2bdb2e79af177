import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import Operations
import Pipeline

struct AppleTest: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Have Apple post a test notification, and show how that went.",
        discussion: """
            Waits some seconds until Apple says that it has tried, and where DATABASE_URL is set shows when it was stored and
            applied. Production by default. Exits with 1 where it did not come through, and says which link is broken.

            Example: storehook apple test --environment Sandbox
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "Ask about this test notification instead of a new one.") var token: String?

    func run() async throws {
        let settings = try await options.shared.settings()
        guard settings.hasDatabase else {
            return try await options.run { try await follow($0, $1, nil) }
        }
        try await Database.with(settings) { pool in
            try await options.run { try await follow($0, $1, Canaries(pool)) }
        }
    }

    /// Asks, waits until Apple has tried, and looks how far it came here.
    private func follow(
        _ client: AppStoreClient, _ environment: Environment?, _ canaries: Canaries?
    ) async throws -> AppleAnswer {
        let trial = TestNotificationTrial(
            client, canaries, patience: token == nil ? .init() : .none, now: WallClock.now)
        do {
            if let token { return AppleAnswer(test: try await trial.follow(token, in: environment)) }
            return AppleAnswer(test: try await trial.run(in: environment))
        } catch let failure as AppStoreFailure {
            return AppleAnswer(test: failure, now: WallClock.now())
        }
    }
}
