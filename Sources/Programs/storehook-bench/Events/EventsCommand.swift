import ArgumentParser

/// What telling costs.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What telling costs.",
        discussion: "Example: storehook-bench events writing --backlog 20000 --pairs 5",
        subcommands: [EventsWriting.self], defaultSubcommand: EventsWriting.self)
}
