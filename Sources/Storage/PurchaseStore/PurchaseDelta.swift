import AppStorePayloads
package import Base
package import Subscriptions

/// How a batch changed one purchase, for accounts, events and observers in the same transaction: its state now and before.
package struct PurchaseDelta: Sendable {
    /// The purchase.
    package var key: PurchaseKey
    /// The subscription's phases, if it is one: those that were derived, which include the present and all later ones.
    package var phases: [Phase]
    /// The earliest instant at which the batch may have changed anything.
    package var since = Timestamp.distantPast
    /// How many of ``phases`` are written to `subscription_history`.
    package var movedPhases = 0
    /// How many phases of the subscription are in `subscription_history`.
    package var earlierPhases = 0
    /// The phases of its row in `subscriptions`.
    package var currentPhases: ArraySlice<Phase> { phases.dropFirst(movedPhases) }
    /// Its periods that the batch brought new records about.
    package var periods: [PaidPeriod]
    /// Those periods before the batch.
    package var periodsBefore: [PaidPeriod]
    private var update: PurchaseUpdate?
    private var touched: TouchedPeriods?
    /// All of its periods, as far as they were derived.
    package var allPeriods: [PaidPeriod] { update?.state.paidPeriods ?? periods }
    /// What the batch's transactions were sold for, as far as it brought their records.
    package var terms: [(transactionID: String, terms: SaleTerms)] {
        update?.transactions.map { ($0.record.payload.transactionId, SaleTerms($0.record.payload)) } ?? []
    }
    /// The subscription as it is now; nil if it is none.
    package var subscription: SubscriptionState? { update?.state.subscription }
    /// The one-time purchase, if it is one.
    package var oneTime: OneTimePurchase?
    /// The one-time purchase before the batch.
    package var oneTimeBefore: OneTimePurchase?
    /// Whether a subscription was recorded before the batch.
    package var wasKnown: Bool
    /// The batch's entries about it that were not recorded before.
    package var evidence: [EvidenceSummary]

    /// Memberwise.
    package init(
        key: PurchaseKey, phases: [Phase] = [], periods: [PaidPeriod] = [], periodsBefore: [PaidPeriod] = [],
        oneTime: OneTimePurchase? = nil, oneTimeBefore: OneTimePurchase? = nil,
        wasKnown: Bool = false, evidence: [EvidenceSummary] = []
    ) {
        self.key = key
        self.phases = phases
        self.periods = periods
        self.periodsBefore = periodsBefore
        self.oneTime = oneTime
        self.oneTimeBefore = oneTimeBefore
        self.wasKnown = wasKnown
        self.evidence = evidence
    }

    /// The subscription before the batch; nil if it was none. It is derived for this: it costs as much as the batch did.
    package var subscriptionBefore: SubscriptionState? { update?.stateBefore.subscription }

    /// What the batch changes in the books. It is derived for this.
    package var booked: BookedChange {
        guard let update, let touched else { return BookedChange() }
        return update.state.bookedChange(
            of: key.originalTransactionID, touched, upon: update.known.facts, since: update.sinceReported,
            from: update.since, before: { update.stateBefore })
    }

    fileprivate mutating func comes(of update: PurchaseUpdate, _ touched: TouchedPeriods) {
        self.update = update
        self.touched = touched
    }
}

extension PurchaseUpdate {
    /// What the batch changed.
    func delta(_ evidence: [EvidenceSummary]) -> PurchaseDelta {
        let touched = state.touchedPeriods(after: records, upon: known.facts)
        var delta = PurchaseDelta(
            key: key, phases: state.subscription?.phases ?? [], periods: touched.paidNow,
            periodsBefore: touched.paidBefore,
            oneTime: state.oneTime,
            oneTimeBefore: state.oneTime == nil ? nil : OneTimePurchase(counting: known.facts),
            wasKnown: known.earlierPhases != nil, evidence: evidence)
        delta.comes(of: self, touched)
        delta.since = since
        if case .phases(let phases) = subscriptionRow {
            (delta.movedPhases, delta.earlierPhases) = (phases.moved, phases.earlier)
        }
        return delta
    }
}
