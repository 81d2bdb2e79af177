package import Subscriptions

/// What a caller has to say before what was handed in is stored, in the same transaction.
package struct IntakePlan: Sendable, Hashable {
    /// The places of records that are not worth storing, because what they say stands here already: they count as duplicates.
    package var skipped: Set<Int>
    /// Purchases to hold with those that the records are about: the caller goes on with them, and all are locked in one order. Each
    /// has been recorded.
    package var holding: [PurchaseKey]

    /// A plan; empty by default.
    package init(skipping skipped: Set<Int> = [], holding: [PurchaseKey] = []) {
        self.skipped = skipped
        self.holding = holding
    }
}
