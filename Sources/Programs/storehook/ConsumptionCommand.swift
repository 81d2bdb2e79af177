import ArgumentParser

struct ConsumptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Apple's requests for consumption data, and the policy that answers them.",
        discussion: """
            Workers with a key answer them by the policy of STOREHOOK_CONSUMPTION_POLICY, with the customer's consent (storehook
            consent). By hand: storehook apple consumption.

            Example: storehook consumption list --state open
            """,
        subcommands: [ConsumptionListCommand.self, ConsumptionCheck.self])
}
