import AccountStore
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import Operations
import PurchaseStore
import Subscriptions

struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "All subscriptions: what each is now.",
        discussion: """
            One purchase by itself, and why: storehook subscription

            Example: storehook subscriptions list --status billing_retry
            """,
        subcommands: [SubscriptionsList.self])
}

struct SubscriptionsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List subscriptions of all accounts by what they are now.",
        discussion: """
            In the order of their original transactions. Filters add up. A status
            is a function of time that no index knows: one page looks through
            10000 subscriptions at most, so that it may have few or none and still
            name the place where to go on (next). --all goes on by itself. What
            was bought once is no subscription: storehook find has it by its id.

            In csv, texts that a spreadsheet would run begin with an apostrophe.

            Example: storehook subscriptions list --unowned --status active
            """)

    @OptionGroup var shared: SharedOptions
    @Option(
        help: "trial, active, cancelled, grace_period, billing_retry, expired or revoked.",
        transform: SubscriptionStatus.word)
    var status: SubscriptionStatus?
    @Option(help: "Of products that give this tier of the catalog.") var tier: String?
    @Option(help: "Of this product, by Apple's id.") var product: String?
    @Option(help: "Of this app (bundle id).") var app: String?
    @OptionGroup var selection: ListSelection
    @Flag(help: "Only those that belong to no account.") var unowned = false
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws {
        _ = try pages.cursor(parts: LedgerReader.cursorParts)
    }

    func run() async throws {
        var filter = SubscriptionFilter()
        (filter.status, filter.productID, filter.bundleID) = (status, product, app)
        (filter.environment, filter.endingWithinDays, filter.isUnowned) = (
            selection.environment?.rawValue, selection.endingWithin, unowned
        )
        let (asked, cursor) = (filter, try pages.cursor(parts: LedgerReader.cursorParts))
        let page = try await Database.with(try await shared.settings()) { pool in
            var asked = asked
            do {
                if let tier { asked.products = try await AccountStore(pool).products(ofTier: tier) }
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
            let (reader, whole) = (LedgerReader(pool), asked)
            return try await pages.read(after: cursor) { try await reader.subscriptions(whole, after: $0, limit: $1) }
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
