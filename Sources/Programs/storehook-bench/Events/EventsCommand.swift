import ArgumentParser

/// What telling costs, and how soon it is told.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What telling costs, and how soon events are delivered.",
        discussion: """
            Example: storehook-bench events writing --backlog 20000 --pairs 5
            Example: storehook-bench events deliveries --workers 2
            """,
        subcommands: [EventsWriting.self, EventsDeliveries.self], defaultSubcommand: EventsWriting.self)
}
