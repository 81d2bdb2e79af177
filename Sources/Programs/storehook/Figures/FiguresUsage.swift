import AccountStore
import ArgumentParser
import FigureStore
import Operations

struct FiguresUsage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show the usage of each feature, by tier and by month or day.",
        discussion: """
            Workers count a day once it has ended. Days without a count are left out,
            and the answer has their number.

            Example: storehook figures usage --by day --from 2026-11-01
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var asked: FigureDays
    @Option(help: "month or day.", transform: CalendarStep.word) var by = CalendarStep.month
    @OptionGroup var output: ListOutput

    func run() async throws {
        try await Database.with(try await shared.settings()) { pool in
            let (days, today, until) = try await asked.days(by: by, AccountStore(pool))
            do {
                let figure = try await UsageFigure(days, by: by, today: today, until: until, Usage(pool))
                output.print(CommandAnswer(figure), next: nil)
            } catch let many as TooManyCells { throw CommandFailure("\(many)") }
        }
    }
}
