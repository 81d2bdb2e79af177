import ArgumentParser
import EventStore

struct EndpointsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "endpoints",
        abstract: "Where events are posted to.",
        discussion: """
            Workers deliver to them (STOREHOOK_SECRET_KEY_FILE). Private addresses are not called unless
            STOREHOOK_ENDPOINT_NETWORKS names them, and http is not unless STOREHOOK_ENDPOINT_HTTP is on.

            Example: storehook endpoints add https://example.com/webhooks --kinds account.access_changed
            """,
        subcommands: [
            EndpointsAdd.self, EndpointsList.self, EndpointsTest.self, EndpointsRotate.self, EndpointsDisable.self,
            EndpointsEnable.self, EndpointsRemove.self,
        ])

    /// Parses `--rate`.
    static func rateLimit(_ text: String) throws -> EndpointStore.RateLimit {
        if text == "none" { return .none }
        guard let number = Int(text), (1...100_000).contains(number) else {
            throw ValidationError("--rate goes from 1 to 100000, or is none")
        }
        return .most(number)
    }

    /// The endpoint of a number that there must be.
    static func unknown(_ id: Int64) -> CommandFailure {
        CommandFailure("there is no endpoint \(id); see storehook endpoints list")
    }
}
