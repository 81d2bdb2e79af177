import ArgumentParser
import EventStore
import Operations
import Staff

struct EndpointsDisable: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop posting to an endpoint; its events wait until it is enabled again.",
        discussion: "Example: storehook endpoints disable 1 --why 'moving to another host'")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Option(help: "Why, for the list.") var why = "disabled by hand"
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard (1...200).contains(why.unicodeScalars.count) else {
            throw ValidationError("--why takes 1 to 200 characters")
        }
    }

    func run() async throws {
        let endpoint = try await Database.with(try await shared.settings()) { pool in
            try await EndpointStore(pool).disable(id, why: why, by: try acting.actor(for: .changeEndpoints))
        }
        guard let endpoint else { throw EndpointsCommand.unknown(id) }
        output.print(
            CommandAnswer(ShownEndpoint(endpoint), text: "disabled endpoint \(id); its events wait"))
    }
}
