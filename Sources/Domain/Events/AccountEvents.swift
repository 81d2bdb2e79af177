public import Accounts
import AppStorePayloads
public import Base
import Subscriptions

/// What was told last of an account in one environment.
public struct LastReportedAccount: Sendable, Hashable {
    /// What it is.
    public var value: AccountPhase
    /// Since when; ``/AppStorePayloads/Timestamp/distantPast`` where it was so from the beginning.
    public var since: Timestamp

    /// Memberwise.
    public init(value: AccountPhase, since: Timestamp) {
        self.value = value
        self.since = since
    }

    /// The next instant at which something is to be told although nothing new is heard; nil where there is none.
    public func nextDue(_ state: AccountState) -> Timestamp? {
        state.phases.first { $0.startsAt > since && !$0.says(sameAs: value) }?.startsAt
    }
}

/// What is to be told of an account: that its tier or its status is another. A function of what was told last, what is known now,
/// and the instant.
///
/// All that it has been since it was told last is gone through, as with a subscription (``SubscriptionEvents``), and what was told and was
/// not so is corrected first. A cause that rewrites what has been (a catalog; a purchase that somebody proves, which is then
/// theirs from its beginning) is told by what it makes of the present alone, and corrects nothing; but what had come to be by then
/// and was not told so far, is told before it.
///
/// It is never told backwards: who is behind, and knows less by now than was told, tells nothing.
public struct AccountEvents: Sendable {
    /// What to tell, in order.
    public private(set) var events: [EventDraft] = []
    /// What has been told then.
    public private(set) var reported: LastReportedAccount

    /// Works it out.
    /// - Parameters:
    ///   - told: what was told last; nil where nothing ever was.
    ///   - state: what it is, as far back as what was told last at least.
    ///   - evidence: what brought the news; nothing where it is the clock.
    ///   - due: when something was to be told next, by what was known before; nil where there was nothing.
    ///   - isOtherCatalog: whether it was told under another catalog than it is derived by now.
    ///   - isFill: whether it is only to be told what stands, and nothing that led there.
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
        var events: [EventDraft] = []
        defer { self.events = events }
        func add(_ value: AccountPhase, _ cause: EventCause, at instant: Timestamp, isCorrection: Bool = false) {
            defer { old = value }
            if old?.says(sameAs: value) ?? (value.status == .free) { return }
            let instant = min(instant, latest)
            events.append(
                EventDraft(
                    .accountAccessChanged, environment: environment,
                    bundleID: value.purchase?.bundleID ?? old?.purchase?.bundleID, account: account,
                    subject: .account(value, previous: old), cause: cause, instant: instant,
                    isLate: rules.isLate(instant, at: now), isCorrection: isCorrection))
        }
        /// What it became after an instant.
        func goThrough(after instant: Timestamp?) {
            let phases = state.phases.filter { phase in
                phase.startsAt <= latest && (instant.map { phase.startsAt > $0 } ?? true)
            }
            for (place, phase) in phases.enumerated() {
                let until = place + 1 < phases.count ? phases[place + 1].startsAt : Timestamp.distantFuture
                add(phase, evidence.last { $0.asOf < until }?.cause ?? .clock, at: phase.instant(at: latest))
            }
        }
        let rewrites = isOtherCatalog || evidence.contains { $0.cause.rewrites }
        if isFill {
            add(present, evidence.last?.cause ?? .clock, at: rewrites ? latest : present.instant(at: latest))
        } else if let reported, isOtherCatalog, let first = evidence.first {
            // The other catalog makes it another from its beginning; then comes what was heard.
            let before = min(max(reported.since, first.asOf.adding(milliseconds: -1)), latest)
            add(state.value(at: before), .catalog, at: before)
            goThrough(after: before)
        } else if rewrites {
            if !isOtherCatalog, reported != nil, let due, due <= latest {
                goThrough(after: due.adding(milliseconds: -1))
            }
            add(present, isOtherCatalog ? .catalog : evidence.last?.cause ?? .clock, at: latest)
        } else {
            if let reported {
                let revised = state.value(at: reported.since)
                add(revised, evidence.first?.cause ?? .clock, at: revised.instant(at: latest), isCorrection: true)
            }
            goThrough(after: reported?.since)
        }
    }
}

extension EventCause {
    /// Whether it makes an account another from the beginning, and not from an instant on.
    fileprivate var rewrites: Bool { self == .catalog || self == .client }
}

extension AccountPhase {
    /// The same by what is told: the tier, and what it is.
    func says(sameAs other: AccountPhase) -> Bool { tier == other.tier && status == other.status }

    /// When it began; now, where that reaches back for ever.
    fileprivate func instant(at now: Timestamp) -> Timestamp { startsAt == .distantPast ? now : startsAt }
}
