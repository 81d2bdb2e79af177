package import Base
package import Staff

/// A filter of orders. A member that is nil fits all orders; an order has to fit all members.
package struct OrderFilter: Sendable, Hashable {
    /// An id of Apple's or of an account, the beginning of a number, or a product's name.
    package var search: String?
    /// With this status.
    package var status: OrderStatus?
    /// In this environment.
    package var environment = "Production"
    /// Of this app, by its bundle id.
    package var bundleID: String?
    /// Of these apps alone.
    package var scope = StaffScope.all
    /// Of the account with this token.
    package var account: UniqueIdentifier?
    /// With this shown product, by Apple's id.
    package var productID: String?
    /// With a shown amount in this currency, ISO 4217.
    package var currency: String?
    /// From this country of the App Store, ISO 3166-1 alpha-3.
    package var storefront: String?
    /// With a shown product of this tier of the current catalog.
    package var tier: String?
    /// Whether a refund stands.
    package var isRefunded: Bool?
    /// From this day on.
    package var from: CalendarDay?
    /// Up to this day, included.
    package var to: CalendarDay?
    /// With a change by evidence at this instant or later.
    package var updatedSince: Timestamp?
    /// That had been heard of by this instant, each as it stood then; nil for now.
    package var at: Timestamp?

    /// All of Production.
    package init() {}
}
