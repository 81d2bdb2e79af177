import AppleRecords
import ArgumentParser
import Operations

struct DueShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show how much was due and was not heard of, by how long ago.",
        discussion: """
            Due in Production is the end of each period that is to renew, of each
            trial, grace period and sixty days of tries to charge. Of such an end
            Apple signs something, at most 24 hours before it. Workers count every
            few minutes what Apple said nothing of and was not asked about. Purchases
            that were imported and that Apple never spoke of are counted apart.

            Example: storehook due show
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var output: ListOutput

    func run() async throws {
        let counts = try await Database.with(try await shared.settings()) { try await DueEnds($0).counts() }
        output.print(CommandAnswer(counts), next: nil)
    }
}
