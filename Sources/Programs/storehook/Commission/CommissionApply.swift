import ArgumentParser
import FigureStore
import Figures
import Operations

struct CommissionApply: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a commission table current, all of it or nothing.",
        discussion: """
            Proceeds of all days are estimated anew in the background; closed months
            keep theirs. Earlier tables stay on record. The same file as the current
            one is no new version. Begin with what commission show prints.

            Example: storehook commission apply commission.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The table's file.") var file: String
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        output.print(
            try await apply(Commission.self, file, shared, acting, next: "a worker estimates proceeds anew"))
    }
}
