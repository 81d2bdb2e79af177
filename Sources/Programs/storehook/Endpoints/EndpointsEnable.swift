import ArgumentParser
import EndpointStore
import Operations

struct EndpointsEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Post to an endpoint again; it catches up with what it has missed, in order.",
        discussion: """
            One that is paused is called at once as if it had never failed.

            Example: storehook endpoints enable 1 --skip-missed
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Flag(help: "It gets nothing that was told before now; see storehook events resend.") var skipMissed = false
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let endpoint = try await Database.with(try await shared.settings()) { pool in
            try await EndpointStore(pool).enable(id, skipsMissed: skipMissed, by: Operator.name)
        }
        guard let endpoint else { throw EndpointsCommand.unknown(id) }
        print(
            OutputFormat.chosen(format) == .json
                ? try JSONText.encode(EndpointAnswer(endpoint))
                : "enabled endpoint \(id)" + (skipMissed ? "; what it had missed is not sent" : "; it catches up"))
    }
}
