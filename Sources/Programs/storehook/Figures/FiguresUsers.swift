import AccountStore
import Accounts
import ArgumentParser
import Base
import FigureStore
import Operations

/// The days of a figure.
struct FigureDays: ParsableArguments {
    @Option(
        help: "The first day, such as 2026-01-31; a year ago by default, or 30 days by day.",
        transform: CalendarDay.argument)
    var from: CalendarDay?
    @Option(help: "The last day, which belongs to it; today by default.", transform: CalendarDay.argument)
    var to: CalendarDay?

    func validate() throws {
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
    }

    /// The days that are asked for.
    func days(_ figures: FigureStore, by step: CalendarStep) async throws -> ClosedRange<CalendarDay> {
        guard let days = try await figures.days(from: from, to: to, by: step) else {
            throw ValidationError("--to is before --from")
        }
        return days
    }
}

struct FiguresUsers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Show how many accounts there were at the end of each month or day, by tier or status.",
        discussion: """
            A month has the accounts of its last day, and a period that runs those of
            now. Workers count each day once it has ended. Days that were never
            counted are left out, and their number is said.

            Example: storehook figures users --by day,tier --from 2026-11-01
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var asked: FigureDays
    @Option(
        help: "month or day; and, after a comma, tier or status.",
        transform: FigureParts<CalendarStep, UserFigure.Split>.argument)
    var by = FigureParts<CalendarStep, UserFigure.Split>()
    @Option(help: "Apple's name of the environment; Production by default.", transform: Environment.argument)
    var environment: Environment = .production
    @OptionGroup var output: ListOutput

    func run() async throws {
        try await Database.with(try await shared.settings()) { pool in
            let (figures, accounts) = (FigureStore(pool), AccountStore(pool))
            do {
                let figure = try await UserFigure(
                    try await asked.days(figures, by: by.step), by: by.step, by.split,
                    environment: environment.rawValue,
                    tiers: try await accounts.current()?.catalog.tiers.map(\.id) ?? [],
                    today: try await figures.today(), accounts)
                output.print(CommandAnswer(figure), next: nil)
            } catch let many as TooManyCells { throw CommandFailure("\(many)") }
        }
    }
}
