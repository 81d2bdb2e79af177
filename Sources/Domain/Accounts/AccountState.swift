import AppStorePayloads
public import Base

/// An account's status in one environment as a function of time, derived from its facts, the catalog, and nothing else.
///
/// **Sources.** A purchase gives its product's tier while it is the account's (``PurchaseOwnership``) and gives access; one whose
/// product the catalog does not know gives nothing, and neither does a consumable. A non-consumable has no end. A term that
/// does not renew ends when Apple says; else it lasts the product's days (``/Catalog/Catalog/Product/days``). A
/// grant gives its tier for its days from its instant on, the app's trial its tier until its end. Tiers that the catalog does
/// not know give nothing.
///
/// **Which one speaks.** The highest tier that any source gives; of those that give it, the one whose end, as known at that
/// instant, is the latest (no end is later than any); of equals a purchase before a grant before the trial, then the
/// smallest ``/Subscriptions/PurchaseKey``, then the earliest act. So the app's trial goes on beside a purchase, and shows only where it
/// gives more or lasts longer.
///
/// **Stretches.** A purchase is *there* while it is the account's and gives access or is being retried: one stretch, renewals
/// and changes of product included. What is bought after an end is a later stretch. Grants, added days and the trial are
/// there from when they were given to their end.
///
/// **Revoke** ends all that is there at its instant: until `unrevoke` none of it gives anything, and the account is
/// `revoked` unless something later gives access, or gave it and ended later.
///
/// **Change of tier** is about the source that speaks at its instant: from then on, while that gives access, the account has
/// the new tier in place of all that was there then; what is bought or given later counts beside it. Of several the latest
/// that still holds counts. Where nothing gives access there is nothing to change.
///
/// **Extend** is about the same source: where its access ends, the tier that the account had at the act's instant goes on for
/// so many days, as a grant. Days added twice are one after the other. What a renewal or a recovery moves moves them along,
/// but for days that have begun by then. What Apple took back, and what is another account's by then, is not extended; nor
/// is what has no end.
///
/// **Without access** the source that ended last gives the status: `revoked` where Apple or staff took it back,
/// `trial_expired` where it was a trial of either kind, else `expired`; billing retry is `expired` from when access ended. Of
/// equals, as above. Nothing ever: `free`. Purchases that are another account's by now say nothing, and those that never
/// gave this account anything neither.
///
/// Every rule names instants and numbers of acts, none the order in which facts came.
public struct AccountState: Sendable, Hashable {
    /// Where each phase begins, in order; the first one reaches back for ever, or to where what is known begins, and the last one
    /// has no end.
    public let phases: [AccountPhase]

    /// Derives the state.
    /// - Parameter from: what was before is left out, for who does not know all of it; from the beginning unless told.
    public init(_ facts: AccountFacts, catalog: Catalog, from: Timestamp = .distantPast) {
        let rules = AccountRules(facts, catalog)
        var phases: [AccountPhase] = []
        for instant in rules.instants where instant >= from || instant == .distantPast {
            let phase = rules.value(at: max(instant, from))
            if phases.last?.continues(phase) != true { phases.append(phase) }
        }
        self.phases = phases
    }

    /// The state that consists of these phases, at least one, in order.
    public init?(_ phases: [AccountPhase]) {
        guard !phases.isEmpty else { return nil }
        self.phases = phases
    }

    /// What the account is at an instant; before what is known begins, the first that is known.
    public func value(at instant: Timestamp) -> AccountPhase { phases[place(of: instant)] }

    /// When the account loses access, as known then: the end of all phases with access in a row; nil where there is none, or no
    /// end of it.
    public func accessUntil(at instant: Timestamp) -> Timestamp? {
        guard value(at: instant).access else { return nil }
        return phases[place(of: instant)...].first { !$0.access }?.startsAt
    }

    /// When the phase of an instant ends; nil for the last one.
    public func end(ofPhaseAt instant: Timestamp) -> Timestamp? {
        let next = place(of: instant) + 1
        return next < phases.count ? phases[next].startsAt : nil
    }

    private func place(of instant: Timestamp) -> Int {
        max(0, phases.partitioningIndex { $0.startsAt > instant } - 1)
    }
}

extension Array {
    /// The first index from which on `condition` holds, by halving: it must not hold again before it, and hold ever after.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
