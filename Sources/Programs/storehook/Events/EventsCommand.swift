import ArgumentParser

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What has changed, as it is sent to backends.",
        discussion: "Example: storehook events list --account user-42",
        subcommands: [EventsList.self, EventsResend.self, EventsDeliveries.self])
}
