import AccountStore
import Accounts
import ArgumentParser
import Base
import FigureStore
import Figures
import Operations
import Postgres

struct FiguresShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a figure by month, fiscal month or day, or its rows.",
        discussion: """
            The figures: \(Figure.allCases.map(\.rawValue).joined(separator: ", ")).
            Users and usage have commands of their own.
            Money is converted to the currency of --in, or to the catalog's
            reporting_currency. Without either, each currency stands by itself.
            Amounts without a known rate have lines of their own. A value that is
            not final states why: its days are running, a change is not summed yet,
            or it is not proven that all of Apple's notifications are here.

            fiscal-month are the months of Apple's fiscal year, in days of Los
            Angeles. A first or last day may be 2026-FM01 then. See fiscal-calendar.

            --rows lists the rows: their amounts add up to the figure.
            With --at, months that were closed then have what was recorded, in
            Production and in each currency by itself.

            --closed answers from the record of figures close. With --rows it lists
            the corrections: rows that were added, removed or changed since then.
            The rows of retention are customers by their first payment; with --month,
            only customers that pay so many months later. The rows of lifetime_value
            are payments; with --month, only those until so many months later.

            Example: storehook figures gross --by day --from 2026-11-01 --rows
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The figure.", transform: Figure.word) var name: Figure
    @Option(
        help:
            "The first day, such as 2026-01-31, or fiscal month, such as 2026-FM04. By default there are 30 days, or a year of months.",
        transform: FigureBound.argument)
    var from: FigureBound?
    @Option(help: "The last day, or fiscal month, included; today by default.", transform: FigureBound.argument)
    var to: FigureBound?
    @Option(
        help: "Only periods that had ended at this instant, ISO 8601 in UTC, by what is known of them now.",
        transform: Timestamp.argument)
    var at: Timestamp?
    @Option(
        help: "month, fiscal-month or day; and, after a comma, app, product, country, currency or plan.",
        transform: FigureParts<FigureQuestion.Step, FigureQuestion.Split>.argument)
    var by = FigureParts<FigureQuestion.Step, FigureQuestion.Split>()
    @Option(
        name: .customLong("in"),
        help:
            "Convert money to this currency, such as EUR; none: do not convert to the catalog's reporting currency.")
    var target: ReportingCurrency?
    @Option(help: "Apple's name of the environment; Production by default.", transform: Environment.argument)
    var environment: Environment = .production
    @Option(help: "Only of this app (bundle id).") var app: String?
    @Flag(help: "List the rows.") var rows = false
    @Flag(help: "Answer from the records of closed months. Other months are left out.") var closed = false
    @Option(help: "With --rows: only of this product, by Apple's id.") var product: String?
    @Option(help: "With --rows: only of products with this plan, such as year or lifetime.") var plan: String?
    @Option(help: "With --rows: only from this country of the App Store, such as USA.") var country: String?
    @Option(help: "With --rows: only in this currency, such as EUR.") var currency: String?
    @Option(
        help:
            "With --rows, a number of months after the first payment, 0 to 36. retention: only customers that pay then. lifetime_value: only payments until then."
    )
    var month: Int?
    @Option(help: "With --rows: those after this place, the next of the page before.") var after: String?
    @Option(help: "With --rows: at most so many, 1 to 10000.") var limit = 25
    @OptionGroup var output: ListOutput

    func validate() throws {
        try (1...10_000).check(limit, "--limit")
        _ = try cursor
        let narrowed = [product, plan, country, currency, after].contains { $0 != nil }
        guard rows || !narrowed else {
            throw ValidationError("--product, --plan, --country, --currency and --after go with --rows")
        }
        if let month {
            guard rows, name.isByMonthsLater else {
                throw ValidationError("--month goes with --rows of retention and lifetime_value")
            }
            try Cohort.months.check(month, "--month")
        }
        if closed, let why = name.unrecorded {
            throw ValidationError("closed months record no \(name.rawValue): \(why)")
        }
        guard !closed || environment == .production && [product, plan, country, currency].allSatisfy({ $0 == nil })
        else {
            throw ValidationError(
                "months are closed in Production; --product, --plan, --country and --currency do not go with --closed")
        }
        if closed, case .one? = target {
            throw ValidationError("closed months recorded each currency by itself: --in does not go with --closed")
        }
        if closed, at != nil { throw ValidationError("--at does not go with --closed: it has the records of then") }
        if let from, let to, to.precedes(from) { throw ValidationError("--to is before --from") }
    }

    private var cursor: ListCursor? {
        get throws {
            try after.map { text in
                let cursor = ListCursor(
                    text, parts: closed ? FigureStore.correctionCursorParts : FigureStore.cursorParts)
                guard let cursor, closed ? FigureStore.isCorrectionCursor(cursor) : FigureStore.isCursor(cursor) else {
                    throw ValidationError("--after takes what a page before gave as next")
                }
                return cursor
            }
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        try await Database.with(settings) { pool in
            let figures = FigureStore(pool)
            let question: FigureQuestion
            do {
                let asked = try await figures.question(
                    name, from: from, to: to, by: by.step, by.split, environment: environment.rawValue,
                    apps: app.map { [$0] }, in: try await currency(pool), at: at)
                guard let asked else { throw ValidationError("--to is before --from") }
                question = asked
            } catch let refusal as FiscalRefusal { throw CommandFailure("\(refusal)") }
            do { try question.check() } catch { throw ValidationError("\(error)") }
            guard rows else {
                do {
                    let answer =
                        closed
                        ? try await figures.closedAnswer(question) : try await figures.answer(question, at: at)
                    return output.print(CommandAnswer(answer), next: nil)
                } catch let many as TooManyCells {
                    throw CommandFailure("\(many)")
                } catch let refusal as FiscalRefusal { throw CommandFailure("\(refusal)") }
            }
            if closed {
                let page = try await figures.corrections(question, after: try cursor, limit: limit)
                let unrecorded = try await figures.unrecorded(question)
                return output.print(CommandAnswer(page, of: name, unrecorded: unrecorded), next: page.next)
            }
            let page = try await figures.rows(
                FigureRowQuestion(
                    question, productID: product, plan: plan, storefront: country, currency: currency, months: month),
                after: try cursor, limit: limit)
            output.print(CommandAnswer(page, in: question.currency), next: page.next)
        }
    }

    private func currency(_ pool: PostgresPool) async throws -> String? {
        // Each currency by itself is what was recorded.
        if closed { return nil }
        return switch target {
        case .none?: nil
        case .one(let currency)?: currency
        case nil: try await AccountStore(pool).current()?.catalog.reportingCurrency
        }
    }
}

extension FigureBound {
    /// Reads a day or a fiscal month of the command line.
    fileprivate static func argument(_ text: String) throws -> FigureBound {
        guard let bound = FigureBound(text) else {
            throw ValidationError("it is a day like 2026-01-31, or by fiscal-month a month like 2026-FM04")
        }
        return bound
    }
}
