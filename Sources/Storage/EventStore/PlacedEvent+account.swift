import PurchaseStore

extension PlacedEvent {
    /// The column `account`: what the app's own tokens call the account of an event `e`, which has the row `a`, if any.
    static let accountColumn = AccountName.column(token: "e.token")
}
