import AccountStore
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import OrderStore
import Postgres

/// Which orders a command is about.
struct OrderSelection: ParsableArguments {
    @Option(
        help:
            "A transaction, an order line, an account's id or token; the beginning of a number, such as ORD-202601; or of a product's name."
    )
    var search: String?
    @Option(
        help: "pending, completed, failed, cancelled, partially_refunded or refunded.", transform: OrderStatus.word)
    var status: OrderStatus?
    @Option(help: "Apple's name of the environment; Production by default.", transform: Environment.argument)
    var environment: Environment = .production
    @Option(help: "Of this app (bundle id).") var app: String?
    @Option(help: "Of this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Option(help: "Of this product, by Apple's id.") var product: String?
    @Option(help: "With an amount in this currency, such as EUR.") var currency: String?
    @Option(help: "From this country of the App Store, such as USA.") var storefront: String?
    @Option(help: "Of products that give this tier of the catalog.") var tier: String?
    @Option(help: "yes: a refund stands; no: none does.") var refunded: Answer?
    @Option(
        help: "From this day on, such as 2026-01-31: an order's day is that in its number.",
        transform: CalendarDay.argument) var from: CalendarDay?
    @Option(help: "Up to this day, which belongs to it.", transform: CalendarDay.argument) var to: CalendarDay?
    @Option(
        help: "Changed by evidence since this instant, such as 2026-01-31T12:00:00Z.", transform: Timestamp.argument)
    var updatedSince: Timestamp?
    @OptionGroup var past: PastOptions

    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case yes, no
    }

    func validate() throws {
        try account?.validate()
        guard search.map({ (1...1000).contains($0.unicodeScalars.count) }) ?? true else {
            throw ValidationError("--search takes 1 to 1000 characters")
        }
    }

    /// The filter.
    func filter(_ pool: PostgresPool, _ settings: Settings) async throws -> OrderFilter {
        var filter = OrderFilter()
        (filter.search, filter.status, filter.environment) = (search, status, environment.rawValue)
        (filter.bundleID, filter.productID, filter.tier) = (app, product, tier)
        (filter.currency, filter.storefront) = (currency?.uppercased(), storefront?.uppercased())
        filter.isRefunded = refunded.map { $0 == .yes }
        filter.account = try await Database.token(account, pool, settings)
        (filter.from, filter.to) = (from, to)
        (filter.updatedSince, filter.at) = (updatedSince, past.at)
        return filter
    }
}
