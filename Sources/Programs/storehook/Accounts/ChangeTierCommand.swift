import Accounts
import ArgumentParser

struct ChangeTierCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-tier",
        abstract: "Give an account another tier, up or down, until what gives it access now ends.",
        discussion: """
            What is bought or granted later counts beside it.

            Example: storehook change-tier user-42 --tier premium --why "sold by phone"
            """)

    @OptionGroup var options: ActOptions
    @Option(help: "The tier, as the catalog calls it.") var tier: String

    func run() async throws { try await options.perform(.changeTier(to: tier)) }
}
