import ArgumentParser

struct PurchasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchases",
        abstract: "What apps have reported of attempts to buy and to restore.",
        discussion: """
            Apps report with POST /v1/purchases. Nothing is decided by it: what a customer has is what Apple signed.

            Example: storehook purchases list --account user-42
            """,
        subcommands: [PurchasesList.self])
}
