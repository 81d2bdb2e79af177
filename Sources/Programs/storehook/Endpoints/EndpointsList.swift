import ArgumentParser
import EventStore
import Operations

struct EndpointsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the endpoints, how they fare and what waits for them; never their secrets.",
        discussion: "Example: storehook endpoints list --format json")

    @OptionGroup var shared: SharedOptions
    @OptionGroup var output: Output

    func run() async throws {
        let (endpoints, standings) = try await Database.with(try await shared.settings()) { pool in
            let store = EndpointStore(pool)
            return (try await store.list(), try await store.standings())
        }
        output.print(
            CommandAnswer(
                endpoints.map { endpoint in
                    ShownEndpoint(endpoint, standing: standings.first { $0.endpointID == endpoint.id })
                }))
    }
}
