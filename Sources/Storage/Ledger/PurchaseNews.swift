package import Subscriptions

/// What a batch made of one purchase, for who tells of it in the same transaction: what stands, and what stood.
package struct PurchaseNews: Sendable {
    /// The purchase.
    package var key: PurchaseKey
    /// The subscription's phases, if it is one: those that were derived, with which the present and all that is to come are.
    package var phases: [Phase]
    /// Its periods, as far back as anything new was said of.
    package var periods: [PaidPeriod]
    /// The same before the batch.
    package var periodsBefore: [PaidPeriod]
    /// What was bought once, if that is what it is.
    package var oneTime: OneTimePurchase?
    /// The same before the batch.
    package var oneTimeBefore: OneTimePurchase?
    /// Whether a subscription stood before the batch.
    package var wasKnown: Bool
    /// What the batch said of it that was not recorded before.
    package var entries: [LedgerEntry]

    /// Memberwise.
    package init(
        key: PurchaseKey, phases: [Phase] = [], periods: [PaidPeriod] = [], periodsBefore: [PaidPeriod] = [],
        oneTime: OneTimePurchase? = nil, oneTimeBefore: OneTimePurchase? = nil, wasKnown: Bool = false,
        entries: [LedgerEntry] = []
    ) {
        self.key = key
        self.phases = phases
        self.periods = periods
        self.periodsBefore = periodsBefore
        self.oneTime = oneTime
        self.oneTimeBefore = oneTimeBefore
        self.wasKnown = wasKnown
        self.entries = entries
    }

    init(_ update: PurchaseUpdate, _ entries: [LedgerEntry]) {
        let state = update.state
        self.init(
            key: update.key, phases: state.subscription?.phases ?? [], periods: state.paidPeriods,
            periodsBefore: PaidPeriod.all(of: update.known.facts), oneTime: state.oneTime,
            oneTimeBefore: state.oneTime == nil ? nil : OneTimePurchase(counting: update.known.facts),
            wasKnown: update.known.earlierPhases != nil, entries: entries)
    }
}
