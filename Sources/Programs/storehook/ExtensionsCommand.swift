import ArgumentParser

struct ExtensionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extensions",
        abstract: "Extensions of renewal dates: how far each is, and whom Apple could not extend.",
        discussion: """
            storehook apple extend and extend-all make them; workers with a key follow them.

            Example: storehook extensions list --open
            """,
        subcommands: [ExtensionsList.self, ExtensionsShow.self, ExtensionsClose.self])
}
