import ArgumentParser

struct FiguresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "figures",
        abstract: "Figures of sales, refunds and customers, by month or day, and their rows.",
        discussion: """
            Without a subcommand it shows a figure.

            Example: storehook figures net --from 2026-01-01 --by month,product
            """,
        subcommands: [
            FiguresShow.self, FiguresUsers.self, FiguresUsage.self, FiguresClose.self, FiguresReopen.self,
            FiguresCompare.self,
        ],
        defaultSubcommand: FiguresShow.self)
}
