import ArgumentParser

struct StaffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "staff",
        abstract: "Members of the staff, their passwords and tokens, and the keys of your own servers.",
        discussion: """
            A viewer reads, with personal texts shortened. Support also opens them, grants and extends up to 90 days at a time, writes notes,
            requests refunds and replays dead letters. An admin does all else. A person with the commands of storehook acts as an
            admin; the name (--as) is recorded, and not proven.

            Example: storehook staff add kim@example.com --role support
            """,
        subcommands: [StaffAdd.self, StaffList.self, StaffPasswordCommand.self, StaffRemove.self, StaffToken.self])
}
