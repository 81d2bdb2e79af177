import ArgumentParser

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "What staff asked to do about many dead letters at once: how far each job is, and its end.",
        discussion: """
            The admin API makes them; workers carry them out.

            Example: storehook jobs list
            """,
        subcommands: [JobsList.self, JobsShow.self, JobsStop.self])
}
