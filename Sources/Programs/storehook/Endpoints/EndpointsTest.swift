import ArgumentParser
import Base
import EventStore
import Operations
import Webhooks

struct EndpointsTest: ActingCommand {
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
    @OptionGroup var output: Output

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
        let outcome = trial.outcome
        let text =
            "\(outcome.isSuccess ? "delivered" : "not delivered"): endpoint \(id) \(outcome.text) (\(trial.webhookID), "
            + "\(Int64(trial.duration / .milliseconds(1))) ms)"
        output.print(CommandAnswer((id, trial), Self.shape, text: text))
        if !outcome.isSuccess { throw ExitStatus.failed }
    }

    private static let shape = CommandShape<(endpoint: Int64, trial: EndpointTrial)>([
        .init("endpoint", \.endpoint), .init("webhook_id", \.trial.webhookID),
        .init("delivered", \.trial.outcome.isSuccess), .init("outcome", \.trial.outcome.code),
        .init("status", \.trial.outcome.status),
        .init("milliseconds") { Int64($0.trial.duration / .milliseconds(1)) },
        .init("message", \.trial.outcome.text),
    ])
}
