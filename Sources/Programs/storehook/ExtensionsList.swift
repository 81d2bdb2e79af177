import AppleRecords
import ArgumentParser
import Base
import Operations

struct ExtensionsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List extensions of renewal dates, the youngest first.",
        discussion: "Example: storehook extensions list --subscription 2000000123456789 --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only of this subscription, by its original transaction id.") var subscription: String?
    @Flag(help: "Only those that are not finished.") var open = false
    @OptionGroup var past: PastOptions
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func run() async throws {
        var filter = ExtensionFilter()
        (filter.originalTransactionID, filter.isOpen, filter.at) = (subscription, open, past.at)
        let asked = filter
        let page = try await Database.with(try await shared.settings()) { pool in
            try await RenewalExtensions(pool).list(asked, limit: list.limit)
        }
        output.print(CommandAnswer(page.elements))
    }
}
