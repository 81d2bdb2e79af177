import Accounts
import ArgumentParser

struct ExtendCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Add days to what gives an account access now.",
        discussion: """
            Locally: they begin where its access ends, renewals included, and Apple is not asked. storehook apple extend moves a renewal date.

            Example: storehook extend user-42 --days 7 --why "apology"
            """)

    @OptionGroup var options: ActOptions
    @Option(help: "For how many days of 24 hours.") var days: Int64

    func validate() throws { try ActOptions.validate(days: days) }

    func run() async throws { try await options.perform(.extend(days: days)) }
}
