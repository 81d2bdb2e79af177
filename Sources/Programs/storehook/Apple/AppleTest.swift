import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Have Apple post a test notification, and tell how that went.",
        discussion: """
            Waits some seconds until Apple says that it has tried. Production unless told otherwise.

            Example: storehook apple test --environment Sandbox
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "Ask about this test notification instead of a new one.") var token: String?

    /// Apple posts within a second or two; its own list follows some seconds later.
    private static let waits: [Int64] = [2, 3, 5, 10]

    func run() async throws {
        try await options.run { client, environment in
            let asked = token
            var place = environment
            let token: String
            if let asked {
                token = asked
            } else {
                let answered = try await client.ask(TestNotificationRequest(), in: environment)
                token = answered.value.testNotificationToken
                place = answered.environment
            }
            var status: TestNotificationStatusRequest.Answer?
            for wait in asked == nil ? Self.waits : [0] {
                try await Task.sleep(for: .seconds(wait))
                status = try await Self.status(token, client, place)
                if status?.sendAttempts.isEmpty == false { break }
            }
            return AppleAnswer(test: status, token: token, from: place ?? .production)
        }
    }

    /// Nil while Apple does not know of it.
    private static func status(
        _ token: String, _ client: AppStoreClient, _ environment: Environment?
    ) async throws -> TestNotificationStatusRequest.Answer? {
        do {
            return try await client.ask(TestNotificationStatusRequest(token), in: environment).value
        } catch let failure as AppStoreFailure {
            guard failure.reason == .apple(.testNotificationNotFound) else { throw failure }
            return nil
        }
    }
}
