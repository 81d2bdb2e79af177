import ArgumentParser
import Operations

struct ConsumptionCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read a policy's file and show its rules, or what is wrong with it and where.",
        discussion: """
            Needs no database. Exits with 2 if the file cannot be used.

            Example: storehook consumption check consumption.yaml
            """)

    @Argument(help: "The policy's file.") var file: String
    @OptionGroup var output: Output

    func run() async throws {
        output.print(CommandAnswer(try Settings.consumptionPolicy(file)))
    }
}
