import ArgumentParser
import FigureStore
import Operations

struct RatesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the first and the last day with a rate, by currency.",
        discussion: """
            A rate counts on its day and for seven days after it, over week-ends
            and holidays. UNCOVERED is the number of days between the first and the
            last one on which no rate counts.

            Example: storehook rates list
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var output: ListOutput

    func run() async throws {
        let known = try await Database.with(try await shared.settings()) { try await RateStore($0).known() }
        output.print(CommandAnswer(known), next: nil)
    }
}
