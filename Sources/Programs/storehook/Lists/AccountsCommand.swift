import AccountStore
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import Operations

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "All accounts: which have what now.",
        discussion: """
            One account by itself, and why: storehook account

            Example: storehook accounts list --status grace_period
            """,
        subcommands: [AccountsList.self])
}

struct AccountsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List accounts by what they are now.",
        discussion: """
            In the order of their tokens, an account with purchases in two
            environments once for each. Filters add up. A status is a function of
            time that no index knows: one page looks through 10000 accounts at
            most, so that it may have few or none and still name the place where
            to go on (next). --all goes on by itself. Whose access ends first:
            storehook account expiring

            In csv, texts that a spreadsheet would run begin with an apostrophe.

            Example: storehook accounts list --tier pro --ending-within 7
            """)

    @OptionGroup var shared: SharedOptions
    @Option(
        help: "active, trial, cancelled, grace_period, expired, trial_expired, revoked or free.",
        transform: AccountStatus.word)
    var status: AccountStatus?
    @Option(help: "With this tier of the catalog.") var tier: String?
    @Option(help: "Whose status comes from this product (Apple's id), or who have it now.") var product: String?
    @Option(help: "Likewise, of a product of this app (bundle id).") var app: String?
    @OptionGroup var selection: ListSelection
    @Flag(help: "Only accounts that were erased.") var erased = false
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws {
        _ = try cursor
    }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: AccountStore.cursorParts)
            guard cursor.map({ UniqueIdentifier($0.parts[0]) != nil }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    func run() async throws {
        var filter = AccountFilter()
        (filter.status, filter.tier, filter.productID, filter.bundleID) = (status, tier, product, app)
        (filter.environment, filter.endingWithinDays, filter.isErased) = (
            selection.environment?.rawValue, selection.endingWithin, erased
        )
        let (asked, cursor) = (filter, try cursor)
        let page = try await Database.with(try await shared.settings()) { pool in
            let store = AccountStore(pool)
            do {
                if let tier { _ = try await store.products(ofTier: tier) }
                return try await pages.read(after: cursor) { try await store.list(asked, after: $0, limit: $1) }
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
