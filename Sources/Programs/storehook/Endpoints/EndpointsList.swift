import ArgumentParser
import EventStore
import Operations

struct EndpointsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the endpoints, how they fare and what waits for them; never their secrets.",
        discussion: "Example: storehook endpoints list --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let (endpoints, standings) = try await Database.with(try await shared.settings()) { pool in
            let store = EndpointStore(pool)
            return (try await store.list(), try await store.standings())
        }
        let answers = endpoints.map { endpoint in
            EndpointAnswer(endpoint, standing: standings.first { $0.endpointID == endpoint.id })
        }
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answers) : EndpointAnswer.table(answers))
    }
}
