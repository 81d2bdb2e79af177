import AppleRecords
import ArgumentParser
import Operations

struct ExtensionsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List extensions of renewal dates, the youngest first.",
        discussion: "Example: storehook extensions list --subscription 2000000123456789 --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only of this subscription, by its original transaction id.") var subscription: String?
    @Flag(help: "Only those that are not finished.") var open = false
    @Option(help: "At most so many, 1 to 10000.") var limit = 100
    @OptionGroup var output: Output

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit goes from 1 to 10000") }
    }

    func run() async throws {
        let found = try await Database.with(try await shared.settings()) { pool in
            try await RenewalExtensions(pool).latest(limit, of: subscription, isOpen: open)
        }
        output.print(CommandAnswer(found))
    }
}
