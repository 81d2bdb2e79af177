import Accounts
import ArgumentParser

struct GrantCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Give an account a tier for some days.",
        discussion: """
            From now on, beside whatever else the account has; the highest tier counts.

            Example: storehook grant user-42 --tier pro --days 30 --why "lost a week to our outage"
            """)

    @OptionGroup var options: ActOptions
    @Option(help: "The tier, as the catalog calls it.") var tier: String
    @Option(help: "For how many days of 24 hours.") var days: Int64

    func validate() throws { try ActOptions.validate(days: days) }

    func run() async throws { try await options.perform(.grant(tier: tier, days: days)) }
}
