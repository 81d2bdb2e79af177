import ArgumentParser
import FigureStore
import Figures
import Operations

struct CommissionApply: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a commission table current as a whole.",
        discussion: """
            Workers estimate the proceeds of all days anew. Closed months keep their
            proceeds. Earlier tables stay on record. The file of the current version
            makes no new one. Begin with the output of commission show.

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
