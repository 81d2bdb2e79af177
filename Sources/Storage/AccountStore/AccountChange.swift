package import Events
package import Subscriptions

/// What an act has changed in the open transaction. The pipeline passes it to events and observers.
package struct AccountChange<Value: Sendable>: Sendable {
    /// The act's answer.
    package var value: Value
    /// The accounts as they are now; nil where nothing changed.
    package var settled: AccountStore.Settled?
    /// The purchases whose owner or state changed; they are locked.
    package var purchases: [PurchaseKey]
    /// The cause that events name.
    package var cause: EventCause

    init(
        _ value: Value, _ settled: AccountStore.Settled? = nil, of purchases: [PurchaseKey] = [],
        cause: EventCause = .staff
    ) {
        self.value = value
        self.settled = settled
        self.purchases = purchases
        self.cause = cause
    }
}
