public import Subscriptions

/// Where a batch took one line: its state by the facts before, and by the facts after.
public struct StateTransition: Sendable {
    /// The line.
    public var line: PurchaseKey
    /// Its state before; nil if it was not known as a subscription.
    public var before: SubscriptionState?
    /// Its state after.
    public var after: SubscriptionState
}
