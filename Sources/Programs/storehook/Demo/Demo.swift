import ArgumentParser

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what storehook does, with the simulator for Apple.",
        discussion: "Example: storehook demo --to http://127.0.0.1:8080/webhooks/apple --notifications 2000 --pki pki",
        subcommands: [DemoRun.self, DemoLife.self, DemoToken.self], defaultSubcommand: DemoRun.self)
}
