import ArgumentParser
import FigureStore
import Figures

struct CommissionShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the current commission table, as it was applied.",
        discussion: """
            A first line states when it was applied, and the actor; the file follows
            word for word. Before any was applied, prints the table of this release.

            Example: storehook commission show > commission.yaml
            """)

    @OptionGroup var shared: SharedOptions

    func run() async throws { try await Commission.show(shared) }
}
