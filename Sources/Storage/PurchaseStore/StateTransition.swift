public import Subscriptions

/// What a batch did to one subscription: its state by the facts before, and by the facts after.
public struct StateTransition: Sendable {
    /// The purchase.
    public var key: PurchaseKey
    /// Its state before; nil if it was not known as a subscription.
    public var before: SubscriptionState?
    /// Its state after; nil if it no longer is a subscription.
    public var after: SubscriptionState?
}
