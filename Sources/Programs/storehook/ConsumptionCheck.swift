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
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let answer = ConsumptionPolicyAnswer(try Settings.consumptionPolicy(file))
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answer) : answer.text)
    }
}
