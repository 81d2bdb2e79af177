import AccountStore
import Accounts
import ArgumentParser
import Base
import FigureStore
import Operations

/// The days of a figure.
struct FigureDays: ParsableArguments {
    @Option(
        help: "The first day, such as 2026-01-31. By default there are 30 days, or a year of months.",
        transform: CalendarDay.argument)
    var from: CalendarDay?
    @Option(help: "The last day, included; today by default.", transform: CalendarDay.argument)
    var to: CalendarDay?
    @Option(
        help: "Only periods that had ended at this instant, ISO 8601 in UTC, by what is known of them now.",
        transform: Timestamp.argument)
    var at: Timestamp?

    func validate() throws {
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
    }

    /// The days of the question, today, and the last day that may end a period; nil for any.
    func days(
        by step: CalendarStep, _ accounts: AccountStore
    ) async throws -> (days: ClosedRange<CalendarDay>, today: CalendarDay, until: CalendarDay?) {
        let today = try await accounts.today()
        var until: CalendarDay?
        if let at { until = try await accounts.ended(by: at) }
        guard let days = step.days(from: from, to: to, today: until ?? today) else {
            throw ValidationError("--to is before --from")
        }
        return (days, today, until)
    }
}

struct FiguresUsers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Show the numbers of accounts at the end of each month or day, by tier or status.",
        discussion: """
            A month has the accounts of its last day. A running period has the
            accounts of now. Workers count each day once it has ended. Days without
            a count are left out, and the answer has their number.

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
            let accounts = AccountStore(pool)
            let (days, today, until) = try await asked.days(by: by.step, accounts)
            do {
                let figure = try await UserFigure(
                    days, by: by.step, by.split, environment: environment.rawValue,
                    tiers: try await accounts.current()?.catalog.tiers.map(\.id) ?? [], today: today, until: until,
                    accounts)
                output.print(CommandAnswer(figure), next: nil)
            } catch let many as TooManyCells { throw CommandFailure("\(many)") }
        }
    }
}
