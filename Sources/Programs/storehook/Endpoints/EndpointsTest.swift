import ArgumentParser
import Base
import EventStore
import Operations
import Webhooks

struct EndpointsTest: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Post a test event, or a past event, to an endpoint at once.",
        discussion: """
            Signed as every delivery, once, from here and not from a worker; whatever
            the endpoint's state, kinds and app. What came back is printed, and counts
            nowhere: neither as the endpoint's health nor as a delivery. A past event has
            its webhook-id, and "replay":true in its data; one that is still to be
            delivered to the endpoint is refused. Exits with 1 if the endpoint did not
            answer with 2xx.

            Example: storehook endpoints test 1 --event evt_42
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Option(
        help: ArgumentHelp(
            "A past event to send, by its webhook-id or number (storehook events list).", valueName: "event"),
        transform: EventSelectionOptions.eventID)
    var event: Int64?
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        let key = try settings.requiredSecretKey()
        let trial = try await settings.withEndpointCaller { caller, _ in
            try await Database.with(settings) { pool -> EndpointTrial? in
                var past: PlacedEvent?
                if let event {
                    past = try await EventStore(pool).event(event)
                    guard past != nil else {
                        throw CommandFailure(
                            "there is no event \(Delivery.webhookID(event)), or it is no longer kept; see storehook events list"
                        )
                    }
                    guard try await !EndpointStore(pool).isPending(event, to: id) else {
                        throw CommandFailure(
                            "\(Delivery.webhookID(event)) is still to be delivered to endpoint \(id), which could take the delivery for a repeat"
                        )
                    }
                }
                do {
                    return try await EndpointTrial(of: id, sending: past, EndpointStore(pool), key, caller)
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
