import ArgumentParser

struct StaffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "staff",
        abstract: "Who may ask what apps may not.",
        discussion: "Example: storehook staff token --account-api --name shop-backend",
        subcommands: [StaffToken.self])
}
