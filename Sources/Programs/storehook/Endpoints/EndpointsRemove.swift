import ArgumentParser
import EventStore
import Staff

struct EndpointsRemove: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an endpoint with its secret, and what waits for it.",
        discussion: """
            What was delivered to it stays on record for STOREHOOK_DELIVERY_DAYS.

            Example: storehook endpoints remove 1
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @OptionGroup var acting: ActingOptions

    func run() async throws {
        let isRemoved = try await Database.with(try await shared.settings()) { pool in
            try await EndpointStore(pool).remove(id, by: try acting.actor(for: .changeEndpoints))
        }
        guard isRemoved else { throw EndpointsCommand.unknown(id) }
        StandardOutput.line("removed endpoint \(id)")
    }
}
