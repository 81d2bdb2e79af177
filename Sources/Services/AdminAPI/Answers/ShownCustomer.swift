import AccountStore
import Accounts
import AppleRecords
import Base
import EventStore
import OrderStore
import Staff

/// A customer, as a member of the staff sees them.
struct ShownCustomer: Sendable {
    /// The account.
    let account: FoundAccount
    /// What the operator's servers say the customer is called.
    let profile: AccountProfile?
    /// Where the account has purchases of the member's apps.
    let places: [AccountPlace]
    /// The environment that was asked for.
    let environment: String
    /// What was paid in it in all.
    let lifetime: LifetimeTotals
    /// What the account is there at the instant, and why; nil where it is not known there.
    let standing: ShownAccount?
    /// The features of its tier.
    let features: [ShownFeature]
    /// What it said last about its consent to send Apple how it used what it bought; nil where it said nothing, or the member may not see.
    let consent: RecordedConsent?
    /// The orders of the latest days.
    let orders: [ShownListedOrder]
    /// Where the list of orders goes on.
    let nextOrders: ListCursor?
    /// The latest events.
    let events: [ShownCustomerEvent]
    /// How personal texts are shown.
    let opening: Opening

    /// What paths take.
    var reference: String { AccountReference.token(account.token).description }
    /// The apps of its purchases.
    var apps: [String] { Set(places.map(\.bundleID)).sorted() }
    /// The environments of its purchases.
    var environments: [String] { Set(places.map(\.environment)).sorted() }
    /// The most phases that are shown.
    private static let mostPhases = 500
    /// What the account is one after the other, but for a first phase without a beginning.
    var phases: [AccountPhase] {
        Array((standing?.view.state.phases ?? []).filter { $0.startsAt != .distantPast }.suffix(Self.mostPhases))
    }
    /// What the account may use at the instant.
    var tiers: [HeldTier] {
        guard let view = standing?.view, let catalog = view.catalog else { return [] }
        return view.tiers(by: catalog)
    }

    /// How many personal texts are shown in full. Each order names the account that stands above.
    var openedTexts: Int64 {
        guard opening.isOpen else { return 0 }
        let head = Int64([account.account, profile?.name, profile?.mail].count { $0 != nil })
        return head + (standing?.acts.reduce(0) { $0 + ($1.why == nil ? 0 : 1) } ?? 0)
    }
}

/// A feature of the catalog, as an account has it.
struct ShownFeature: Sendable {
    /// Its id.
    let id: String
    /// What the account's tier gives.
    let limit: Catalog.Limit
    /// How much is used now; nil where it is not counted, and of a past instant.
    let used: Int64?
}

/// An event about a customer, and where it was delivered.
struct ShownCustomerEvent: Sendable {
    /// The event.
    let event: PlacedEvent
    /// Its deliveries, by endpoint.
    let deliveries: [DeliveryRecord]
}
