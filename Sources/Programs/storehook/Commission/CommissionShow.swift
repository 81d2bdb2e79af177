import ArgumentParser
import FigureStore
import Figures

struct CommissionShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the commission table that counts, as it was applied.",
        discussion: """
            Word for word the file, after a line that says when it was applied and by
            whom. Where none was, that of this release.

            Example: storehook commission show > commission.yaml
            """)

    @OptionGroup var shared: SharedOptions

    func run() async throws { try await Commission.show(shared) }
}
