import ArgumentParser

/// What writing events costs, how soon they are delivered, and whether any is lost under faults.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What events cost, how soon they are delivered, and that none is lost.",
        discussion: """
            Example: storehook-bench events writing --backlog 20000 --pairs 5
            Example: storehook-bench events deliveries --workers 2
            Example: storehook-bench events away --pairs 3 --seconds 20
            Example: storehook-bench events faults --lives 10000
            """,
        subcommands: [EventsWriting.self, EventsDeliveries.self, EventsAway.self, EventsFaults.self],
        defaultSubcommand: EventsWriting.self)
}
