import ArgumentParser
import EventStore
import Operations
import Staff

struct EndpointsEnable: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Post to an endpoint again; it catches up with what it has missed, in order.",
        discussion: """
            One that is paused is called at once as if it had never failed. --rate also changes one that is enabled.

            Example: storehook endpoints enable 1 --rate 50
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Flag(help: "It gets no event written before now; see storehook events resend.") var skipMissed = false
    @Option(
        help: "From now on at most so many deliveries a second, 1 to 100000, or none: as many as it takes.",
        transform: EndpointsCommand.rateLimit)
    var rate: EndpointStore.RateLimit?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let endpoint = try await Database.with(try await shared.settings()) { pool in
            try await EndpointStore(pool).enable(
                id, skipsMissed: skipMissed, rate: rate, by: try acting.actor(for: .changeEndpoints))
        }
        guard let endpoint else { throw EndpointsCommand.unknown(id) }
        output.print(
            CommandAnswer(
                ShownEndpoint(endpoint),
                text: "enabled endpoint \(id)" + (skipMissed ? "; what it had missed is not sent" : "; it catches up")))
    }
}
