import ArgumentParser
import FigureStore
import Figures
import Operations
import Staff

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
        let text = try YAMLFile.read(file)
        let actor = try acting.actor(for: .importRates)
        let settings = try await shared.settings()
        let applied = try await Database.with(settings) { pool in
            do { return try await CommissionStore(pool).apply(text, by: actor) } catch let fault as CommissionFault {
                throw CommandFailure("\(file): \(fault); nothing was applied")
            }
        }
        output.print(CommandAnswer(applied))
    }
}
