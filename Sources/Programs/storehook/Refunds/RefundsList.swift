import AppStorePayloads
import ArgumentParser
import AuditStore
import Base
import Operations
import OrderStore
import Subscriptions

struct RefundsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List requests for refunds, the latest first.",
        discussion: """
            Conditions add up. --by-due lists those that wait for a decision: first those that Apple waits for, and then the oldest.
            Reasons and notes are shortened; --open shows them, on record. In csv, texts that a spreadsheet would run begin with an
            apostrophe. Amounts in json and csv are in thousandths of the currency.

            Example: storehook refunds list --state pending
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "pending, approved, rejected, cancelled or processed.", transform: RefundRequest.State.word)
    var state: RefundRequest.State?
    @Flag(help: "Only requests that were approved 30 days ago without a refund by Apple.") var notRefunded = false
    @Flag(help: "Only requests that wait for a decision, by what is due next.") var byDue = false
    @Option(help: "Only about this order, by its number.") var order: String?
    @Option(help: "Only of this app (bundle id).") var app: String?
    @Option(help: "Apple's name of the environment.", transform: Environment.argument) var environment =
        Environment.production
    @OptionGroup var past: PastOptions
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws { _ = try cursor }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: RefundRequests.cursorParts(byDue: byDue))
            guard cursor.map({ RefundRequests.isCursor($0, byDue: byDue) }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    func run() async throws {
        var filter = RefundRequests.Filter()
        (filter.state, filter.isNotRefunded, filter.order) = (state, notRefunded, order)
        (filter.app, filter.environment, filter.isByDue) = (app, environment.rawValue, byDue)
        filter.at = past.at
        let asked = filter
        let page = try await Database.with(try await shared.settings()) { pool in
            let requests = RefundRequests(pool)
            let page = try await pages.read(after: try cursor) {
                try await requests.list(asked, after: $0, limit: $1)
            }.map { ShownRefundRequest($0, isOpen: opening.open) }
            try await opening.note(page.elements.reduce(0) { $0 + $1.openedTexts }, isExport: false, AuditLog(pool))
            return page
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
