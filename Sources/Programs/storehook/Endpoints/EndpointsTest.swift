import ArgumentParser
import EventStore
import Operations
import Webhooks

struct EndpointsTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Post a test event to an endpoint at once, and tell what came back.",
        discussion: """
            Signed as every delivery, once, from here and not from a worker; whatever the endpoint's state. Exits with 1 if the
            endpoint did not answer with 2xx.

            Example: storehook endpoints test 1
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let settings = try await shared.settings()
        let key = try settings.requiredSecretKey()
        let trial = try await settings.withEndpointCaller { caller, _ in
            try await Database.with(settings) { pool -> EndpointTrial? in
                do {
                    return try await EndpointTrial(of: id, EndpointStore(pool), key, caller)
                } catch let error as UnreadableSecret { throw CommandFailure("\(error)") }
            }
        }
        guard let trial else { throw EndpointsCommand.unknown(id) }
        let answer = EndpointTrialAnswer(
            endpoint: id, webhookID: trial.webhookID, outcome: trial.outcome.code, text: trial.outcome.text,
            status: trial.outcome.status, duration: trial.duration, isDelivered: trial.outcome.isSuccess)
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answer) : answer.text)
        if !trial.outcome.isSuccess { throw ExitStatus.failed }
    }
}
