public import Accounts
import AppStorePayloads
public import Base
import Subscriptions

/// What was reported last of an account in one environment.
public struct LastReportedAccount: Sendable, Hashable {
    /// What it is.
    public var value: AccountPhase
    /// Since when; ``/AppStorePayloads/Timestamp/distantPast`` where it was so from the beginning.
    public var since: Timestamp
    /// Since when its tier and whether it gives access were reported without a break.
    public var heldSince: Timestamp

    /// Memberwise; by default nothing was reported before.
    public init(value: AccountPhase, since: Timestamp, heldSince: Timestamp? = nil) {
        self.value = value
        self.since = since
        self.heldSince = heldSince ?? since
    }

    /// The next instant at which an event is due although nothing new is received; nil where there is none.
    public func nextDue(_ state: AccountState) -> Timestamp? {
        state.phases.first { $0.startsAt > since && !$0.says(sameAs: value) }?.startsAt
    }
}

/// The events to report for an account: changes of its tier or status, and of the end of its access where that is not the
/// end of the purchase that decides. A function of what was reported last, what is known now, and the instant.
///
/// All that it has been since the last report is gone through, as with a subscription (``SubscriptionEvents``), and a
/// wrong report is corrected first. A report was wrong if the account never was what it said; access that was there, and ended
/// before the last report, has ended, and that is reported as an end. Where what it was by then is not known, nothing is corrected:
/// an erased account begins anew.
///
/// Two causes are reported by their effect on the present alone; changes that were due before them and not reported yet are
/// reported first.
/// - A catalog rewrites the past and corrects nothing: what it makes of the present begins with it.
/// - A client hands in purchases of years. What they make of the present has the instant from which on it is so: that of
///   the purchase, or of its proof.
///
/// Nothing is reported backwards: a process that is behind, and knows less than was reported, reports nothing.
public struct AccountEvents: Sendable {
    /// The events, in order.
    public private(set) var events: [EventDraft] = []
    /// What has been reported then.
    public private(set) var reported: LastReportedAccount

    /// Works it out.
    /// - Parameters:
    ///   - reported: what was reported last; nil for nothing.
    ///   - state: what it is, as far back as the last report at least.
    ///   - evidence: what brought the news; nothing where it is the clock.
    ///   - due: when the next event was due, by what was known before; nil for none.
    ///   - isOtherCatalog: whether the last report was made under another catalog than the present state.
    ///   - isFill: whether only the present state is reported, and nothing that led there.
    public init(
        _ reported: LastReportedAccount?, _ state: AccountState, of account: UniqueIdentifier, in environment: String,
        evidence: [Evidence] = [], due: Timestamp? = nil, isOtherCatalog: Bool = false, at now: Timestamp,
        isFill: Bool = false, rules: EventRules = EventRules()
    ) {
        let evidence = evidence.sorted { $0.asOf < $1.asOf }
        let latest = max(now, reported?.since ?? now)
        let present = state.value(at: latest)
        self.reported = LastReportedAccount(
            value: present, since: max(reported?.since ?? .distantPast, present.startsAt))
        var old = reported?.value
        var heldSince = reported?.heldSince
        var events: [EventDraft] = []
        defer {
            self.events = events
            self.reported.heldSince = heldSince ?? self.reported.since
        }
        func add(_ value: AccountPhase, _ source: Evidence?, at instant: Timestamp, isCorrection: Bool = false) {
            defer { old = value }
            if old?.says(sameAs: value) ?? (value.status == .free) { return }
            let instant = min(instant, latest)
            if old?.gives(sameAs: value) != true { heldSince = instant }
            events.append(
                EventDraft(
                    .accountAccessChanged, environment: environment,
                    bundleID: value.purchase?.bundleID ?? old?.purchase?.bundleID, account: account,
                    subject: .account(value, previous: old), source: source, instant: instant,
                    isLate: rules.isLate(instant, at: now), isCorrection: isCorrection))
        }
        /// What it became after an instant.
        func goThrough(after instant: Timestamp?) {
            let phases = state.phases.filter { phase in
                phase.startsAt <= latest && (instant.map { phase.startsAt > $0 } ?? true)
            }
            for (place, phase) in phases.enumerated() {
                let until = place + 1 < phases.count ? phases[place + 1].startsAt : Timestamp.distantFuture
                let source = evidence.first(refundedAt: phase.startsAt) ?? evidence.last { $0.asOf < until }
                add(phase, source, at: phase.instant(at: latest))
            }
        }
        let isCatalog = isOtherCatalog || evidence.contains { $0.cause == .catalog }
        let catalog = Evidence(.catalog, asOf: latest)
        let isPresentAlone = isCatalog || evidence.contains { $0.cause == .client }
        if isFill {
            add(present, evidence.last, at: isCatalog ? latest : present.instant(at: latest))
        } else if let reported, isOtherCatalog, let first = evidence.first {
            // The other catalog makes it another from its beginning; then comes what was heard.
            let before = min(max(reported.since, first.asOf.adding(milliseconds: -1)), latest)
            add(state.value(at: before), catalog, at: before)
            goThrough(after: before)
        } else if isPresentAlone {
            if !isOtherCatalog, reported != nil, let due, due <= latest {
                goThrough(after: due.adding(milliseconds: -1))
            }
            let since = isCatalog ? latest : state.start(ofSame: present, at: latest)
            let isWrong = reported.map { $0.isWrong(bySaying: present, since: since, in: state) } ?? false
            let source = isOtherCatalog ? catalog : evidence.first(refundedAt: since) ?? evidence.last
            add(present, source, at: since, isCorrection: isWrong)
        } else {
            if let reported, state.knows(reported.since) {
                let revised = state.value(at: reported.since)
                let end = reported.end(by: revised, in: state)
                let instant = end ?? revised.instant(at: latest)
                add(
                    revised, evidence.first(refundedAt: instant) ?? evidence.first, at: instant,
                    isCorrection: end == nil)
            }
            goThrough(after: reported?.since)
        }
    }
}

extension LastReportedAccount {
    /// Whether what was reported never was so, as the account has been something else since before.
    fileprivate func isWrong(bySaying present: AccountPhase, since start: Timestamp, in state: AccountState) -> Bool {
        start <= since && state.knows(since) && end(by: present, in: state) == nil
    }

    /// When what was reported had ended, by what became of it then and was not known; nil where it never was so.
    fileprivate func end(by phase: AccountPhase, in state: AccountState) -> Timestamp? {
        let phases = state.phases.prefix { $0.startsAt <= phase.startsAt }
        guard let place = phases.lastIndex(where: { !$0.says(sameAs: phase) }) else { return nil }
        let end = phases[place + 1].startsAt
        return end > heldSince && phases[place].gives(sameAs: value) ? end : nil
    }
}

extension AccountState {
    /// Whether what the account was at an instant is known; what was before an erasure is not.
    fileprivate func knows(_ instant: Timestamp) -> Bool { phases.first.map { $0.startsAt <= instant } ?? false }

    /// Since when it has said the same without a break as at an instant; that instant, where this reaches back for ever.
    fileprivate func start(ofSame present: AccountPhase, at instant: Timestamp) -> Timestamp {
        let same = phases.prefix { $0.startsAt <= instant }.reversed().prefix { $0.says(sameAs: present) }
        return (same.last ?? present).instant(at: instant)
    }
}

extension AccountPhase {
    /// Equal in tier and access, whatever is going to come.
    fileprivate func gives(sameAs other: AccountPhase) -> Bool { tier == other.tier && access == other.access }

    /// Equal in what is reported: the tier, the status, and the end of access where no event about the deciding purchase
    /// reports that.
    func says(sameAs other: AccountPhase) -> Bool {
        tier == other.tier && status == other.status && reportedEnd == other.reportedEnd
    }

    private enum ReportedEnd: Equatable {
        /// The deciding purchase's own.
        case usual
        case at(Timestamp?)
    }

    private var reportedEnd: ReportedEnd {
        guard access, source != .apple || ends?.source != expiresAt else { return .usual }
        return .at(expiresAt)
    }

    /// When it began; now, where that reaches back for ever.
    fileprivate func instant(at now: Timestamp) -> Timestamp { startsAt == .distantPast ? now : startsAt }
}
