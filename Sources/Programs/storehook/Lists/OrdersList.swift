import AccountStore
import Accounts
import ArgumentParser
import AuditStore
import Base
import Operations
import OrderStore
import Postgres

struct OrdersList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List orders, those of the latest days first.",
        discussion: """
            Filters add up. An order shows the latest of its transactions that
            began; paid and refunded are of all of them. A new order gets its
            number within seconds, and shows … until then. --all writes all that
            fit as CSV, page after page, in memory that does not grow.

            With --at, an order is what had been heard of it by then; attempts that
            apps reported are left out. A page may be short, and have a next one.

            Accounts are shortened; --open shows them, on record. In csv, texts
            that a spreadsheet would run begin with an apostrophe.

            Example: storehook orders list --search ORD-202601 --refunded yes
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var selection: OrderSelection
    @OptionGroup var opening: OpeningOptions
    @Option(help: "Those after this place: the next of the page before.") var after: String?
    @Option(help: "At most so many, 1 to 10000.") var limit = OrderStore.usualLimit
    @Flag(help: "All of them, with --format csv.") var all = false
    @OptionGroup var output: ListOutput

    /// How many orders are held at a time where all are written.
    private static let portion = 1000

    func validate() throws {
        try (1...10_000).check(limit, "--limit")
        _ = try cursor
        guard !all || output.format == .csv else { throw ValidationError("--all goes with --format csv") }
    }

    private var cursor: ListCursor? {
        get throws {
            try after.map { text in
                guard let cursor = ListCursor(text, parts: OrderStore.cursorParts), OrderStore.isCursor(cursor) else {
                    throw ValidationError("--after takes what a page before gave as next")
                }
                return cursor
            }
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        try await Database.with(settings) { pool in
            let (filter, log) = (try await selection.filter(pool, settings), AuditLog(pool))
            let catalog = try await AccountStore(pool).current()?.catalog
            var place = try cursor
            var isFirst = true
            repeat {
                let page = try await read(filter, catalog, after: place, pool)
                let opened = page.elements.reduce(0) { $0 + $1.openedTexts }
                try await opening.note(opened, isExport: all, log)
                guard all else { return output.print(CommandAnswer(page), next: page.next) }
                if isFirst || !page.elements.isEmpty {
                    StandardOutput.line(CommandAnswer.csv(of: page.elements, isFirst: isFirst))
                    try StandardOutput.check()
                }
                (place, isFirst) = (page.next, false)
            } while place != nil
        }
    }

    private func read(
        _ filter: OrderFilter, _ catalog: Catalog?, after place: ListCursor?, _ pool: PostgresPool
    ) async throws -> ListPage<OpenedOrder> {
        do {
            return try await OrderStore(pool).list(
                filter, under: catalog, after: place, limit: all ? Self.portion : limit
            ).map { OpenedOrder($0, isOpen: opening.open) }
        } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
    }
}
