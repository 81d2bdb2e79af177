import ArgumentParser

struct DueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "due",
        abstract: "What was due and was not heard of: the first sign that Apple's posts do not arrive.",
        discussion: """
            Without a subcommand it shows how much, by how long ago it was due.

            Example: storehook due --format json
            """,
        subcommands: [DueShow.self, DueList.self],
        defaultSubcommand: DueShow.self)
}
