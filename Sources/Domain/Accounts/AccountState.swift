import AppStorePayloads
public import Base
public import Subscriptions

/// An account's status in one environment as a function of time, derived from its facts and the catalog, and
/// nothing else.
///
/// **Sources.**
/// - A purchase gives its product's tier while the account owns it (``PurchaseOwnership``) and it gives access. A
///   product that the catalog does not know gives nothing, and neither does a consumable. A non-consumable has no end.
///   A term that does not renew ends when Apple says; otherwise it lasts the product's days
///   (``/Catalog/Catalog/Product/days``).
/// - A grant gives its tier for its days from its instant on.
/// - The app's trial gives its tier until its end.
/// - Tiers that the catalog does not know give nothing, and neither do gifts of the lowest.
///
/// **The deciding source.** The highest tier that any source gives decides. Among the sources that give
/// it, in this order:
/// 1. the one whose end, as known at that instant, is the latest (no end is later than any);
/// 2. a purchase before a grant before the trial;
/// 3. the smallest ``/Subscriptions/PurchaseKey``, then the earliest act.
///
/// So the app's trial goes on beside a purchase, and shows only where it gives more or lasts longer.
///
/// **What was there at an act.** All that was bought on a line by then, under any owner: renewals, recoveries and plans
/// that were chosen by then included. A purchase that the customer makes later is new, also on the same line, and so is
/// a renewal to a plan that was chosen later; all that follows on the line belongs to it. A renewal that Apple charged
/// for by then is not new, whenever it begins. Grants, added days and the trial are there from when they were given to
/// their end.
///
/// **Revoke** ends all that was there at its instant: until `unrevoke` none of it gives anything. The account is
/// `revoked` unless something later gives access, or gave it and ended later. What gave nothing at its instant, and was not
/// being retried, it does not end: that had ended by itself, or is of a product that the catalog does not know.
///
/// **Change of tier** is about the deciding source at its instant, and about the days that are added to that source. From
/// then on, while that source gives access, the account has the new tier in place of all that was there then; later
/// purchases and gifts count beside it. The latest change in force counts. Without access there is nothing to change.
/// Everybody has the lowest tier: a source that was changed to it gives nothing until it ends, and the account is `free`.
///
/// **Ends.** The end of access is that of all access without a gap, by what is known at the instant: the sources that
/// give it, what Apple has charged for ahead, and the days that staff has added. The tier's end is when another one takes
/// its place. A purchase ends where its period ends; while its renewal is waited for, where the waiting ends if Apple reports
/// nothing before.
///
/// **Extend** is about the deciding source at its instant, too. Where that source's access ends, the tier that the
/// account had at the act's instant goes on for so many days, as a grant.
/// - Days added twice follow one another.
/// - A renewal or a recovery that moves the end moves the days along, except days that have begun by then.
/// - A purchase that is refunded, or that another account owns by then, is not extended; nor is a source
///   without an end.
///
/// **Without access** the source that ended last gives the status, ties broken as above: `revoked` where Apple or
/// staff took it back, `trial_expired` where it was a trial of either kind that no paid period followed (its grace is
/// part of it), otherwise `expired`; billing retry is `expired` from when access ended. If there never was a source, it
/// is `free`. Purchases that another account owns by now do not count, nor do those that never gave this account
/// anything. One that no account owned until this one proved it counts from its beginning. One that came back from another
/// account counts with what it gave this account before, unless this account was erased since.
///
/// **Catalogs.** The catalog that is current at an instant decides what the account is then. The catalog of an act's instant
/// decides for good what the act is about, and which tier the account had then.
///
/// Every rule depends on instants and numbers of acts, none on the order in which facts came.
public struct AccountState: Sendable, Hashable {
    /// Where each phase begins, in order. The first one has no beginning, or begins where the known facts do; the last
    /// one has no end.
    public let phases: [AccountPhase]
    /// The purchases that count for it, and when, in order of their beginnings; those that ended before the first phase are left out.
    /// Nil where they are not known: an earlier release did not store them.
    public let holdings: [AccountHolding]?

    /// Derives the state.
    /// - Parameters:
    ///   - from: earlier phases are left out, for a caller without all earlier facts; by default none are.
    ///   - end: later phases are left out, for a caller that asks another catalog about them; by default none are.
    public init(
        _ facts: AccountFacts, catalog: Catalog, from: Timestamp = .distantPast, to end: Timestamp = .distantFuture
    ) {
        self.init(AccountRules(facts, catalog), from: from, to: end)
    }

    init(_ rules: AccountRules, from: Timestamp, to end: Timestamp) {
        var phases: [AccountPhase] = []
        var holdings = AccountHoldings()
        var previous: Timestamp?
        for instant in rules.instants where (instant >= from && instant < end) || instant == .distantPast {
            let instant = max(instant, from)
            if instant == previous { continue }
            previous = instant
            let (phase, counting) = rules.value(at: instant)
            if phases.last?.continues(phase) != true { phases.append(phase) }
            holdings.count(counting, from: instant)
        }
        self.phases = phases
        self.holdings = holdings.all
    }

    init(phases: [AccountPhase], holdings: [AccountHolding]?) {
        self.phases = phases
        self.holdings = holdings
    }

    /// The state that consists of these phases, at least one, in order.
    public init?(_ phases: [AccountPhase], holdings: [AccountHolding]? = nil) {
        guard !phases.isEmpty else { return nil }
        self.phases = phases
        self.holdings = holdings
    }

    /// Whether a purchase counts for the account at an instant, with what its product gives; nil where that is not known.
    public func counts(_ purchase: PurchaseKey, at instant: Timestamp) -> Bool? {
        holdings?.contains { $0.purchase == purchase && $0.counts(at: instant) }
    }

    /// The account's phase at an instant; before the first known phase, that one.
    public func value(at instant: Timestamp) -> AccountPhase { phases[place(of: instant)] }

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
    /// The first index from which on `condition` holds, by binary search: it must be false before it, and
    /// true ever after.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
