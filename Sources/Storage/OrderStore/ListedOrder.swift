import Accounts
package import Base
import Foundation
import Postgres

/// An order in a list.
package struct ListedOrder: Sendable, Hashable {
    /// What was paid and refunded in one currency, over all of the order.
    package struct Total: Sendable, Hashable {
        /// ISO 4217.
        package var currency: String
        /// In thousandths of the currency.
        package var paid: Int64
        /// What was refunded of it, in thousandths of the currency.
        package var refunded: Int64
    }

    /// Where it stands among all.
    let mark: OrderMark
    /// Its number; nil until it is dealt, a second after its first record.
    package var number: String?
    /// Its day.
    package var day: CalendarDay { mark.day }
    /// The environment.
    package var environment: String
    /// The app.
    package var bundleID: String
    /// What it is by: an original transaction, or a transaction of what is bought again and again.
    package var key: String
    /// The purchase that it belongs to.
    package var originalTransactionID: String?
    /// The transaction that it shows: the latest that began.
    package var transactionID: String?
    /// The product of that.
    package var productID: String?
    /// The product's name in the catalog.
    package var productName: String?
    /// The account that has the purchase.
    package var token: UniqueIdentifier?
    /// What the app's own tokens call that account, where it is known.
    package var account: String?
    /// `auto_renewable`, `non_consumable`, `consumable` or `non_renewing`.
    package var planType: String
    /// What became of it.
    package var status: OrderStatus
    /// Where it was bought: `apple`.
    package var source: String { "apple" }
    /// When the shown transaction began.
    package var startedAt: Timestamp?
    /// When that ends; nil where it has no end.
    package var endsAt: Timestamp?
    /// The price of that in thousandths of its currency; nil where no record says it.
    package var amount: Int64?
    /// ISO 4217.
    package var currency: String?
    /// The country of the App Store, ISO 3166-1 alpha-3.
    package var storefront: String?
    /// What was paid and refunded in all of it, by currency.
    package var totals: [Total]
    /// How many of its transactions have no signed price.
    package var unpriced: Int64
    /// How many have a refund without an amount.
    package var unknownRefunds: Int64
    /// The latest refund that stands.
    package var refundedAt: Timestamp?
    /// When it got its number.
    package var createdAt: Timestamp?
    /// When the latest evidence that changed it was stored.
    package var updatedAt: Timestamp

    init(_ row: PostgresRow, under catalog: Catalog?) throws {
        mark = try OrderMark(row)
        number = try row.decode("number")
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        key = try row.decode("order_key")
        originalTransactionID = try row.decode("original_transaction_id")
        transactionID = try row.decode("transaction_id")
        productID = try row.decode("product_id")
        productName = catalog?.name(of: productID, bundleID)
        token = UniqueIdentifier(accountToken: try row.decode("token", as: UUID?.self))
        account = try row.decode("account")
        planType = try row.decode("plan_type")
        status = try row.decode("status", among: OrderStatus.self)
        startedAt = try row.instant("starts_at")
        endsAt = try row.instant("ends_at")
        amount = try row.decode("price")
        currency = try row.decode("currency")
        storefront = try row.decode("storefront")
        let currencies: [String] = try row.decode("currencies")
        let paid: [Int64] = try row.decode("paid")
        let refunded: [Int64] = try row.decode("refunded")
        totals = zip(currencies, zip(paid, refunded)).map { Total(currency: $0, paid: $1.0, refunded: $1.1) }
        unpriced = try row.decode("unpriced")
        unknownRefunds = try row.decode("unknown_refunds")
        refundedAt = try row.instant("refunded_at")
        createdAt = try row.instant("created_at")
        updatedAt = Timestamp(try row.decode("updated_at", as: PostgresTimestamp.self))
    }
}

extension Catalog {
    /// What a product is called; its id where the file gives it no name, and nil where the file lacks it.
    func name(of productID: String?, _ bundleID: String) -> String? {
        productID.flatMap { product($0, of: bundleID) }.map { $0.names?.fallback ?? $0.id }
    }
}

extension PostgresRow {
    func instant(_ column: String) throws -> Timestamp? {
        try decode(column, as: PostgresTimestamp?.self).map { Timestamp($0) }
    }
}
