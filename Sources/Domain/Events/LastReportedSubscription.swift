public import Accounts
import AppStorePayloads
public import Base
public import Subscriptions

/// What was reported last of a subscription: all that has to be kept to report the next event.
public struct LastReportedSubscription: Sendable, Hashable {
    /// That an end was said to come soon.
    public struct Warning: Sendable, Hashable {
        /// The end.
        public var end: Timestamp
        /// How many days ahead; where it was said more than once, the last time.
        public var days: Int64

        /// Memberwise.
        public init(end: Timestamp, days: Int64) {
            self.end = end
            self.days = days
        }
    }

    /// What it is.
    public var value: StatusAtInstant
    /// Since when. Everything up to then is reported.
    public var since: Timestamp
    /// Since when its standing (paid, in grace, ended and so on) and its product were reported without a break.
    public var heldSince: Timestamp
    /// The account that it was reported for.
    public var account: UniqueIdentifier?
    /// The ends of periods that were reported from Apple's renewal info, without their own records.
    public var unheardEnds: [Timestamp]
    /// The keys of periods that were reported when they were charged, and never begin by what is known now.
    public var neverBegun: [String]
    /// The warning that was given last.
    public var warning: Warning?
    /// Whether the first paid period after the trial was reported, and the trial still runs. From then on events say what the
    /// subscription is after the trial: nothing is sent when that ends.
    public var isConverted: Bool

    /// Memberwise; by default nothing was reported before.
    public init(
        value: StatusAtInstant, since: Timestamp, heldSince: Timestamp? = nil, account: UniqueIdentifier? = nil,
        unheardEnds: [Timestamp] = [], neverBegun: [String] = [], warning: Warning? = nil, isConverted: Bool = false
    ) {
        self.value = value
        self.since = since
        self.heldSince = heldSince ?? since
        self.account = account
        self.unheardEnds = unheardEnds
        self.neverBegun = neverBegun
        self.warning = warning
        self.isConverted = isConverted
    }

    /// The next instant at which an event is due although nothing new is received; nil where there is none.
    ///
    /// It may be past: what is due is reported at once. An instant without a change for a reader is none, such as the
    /// seam to a period that was reported when it was paid.
    ///
    /// A warning that is withheld because the account's access goes on is looked at again each day until the end: what
    /// goes on may be cancelled meanwhile, and nothing is heard of this subscription then.
    /// - Parameters:
    ///   - phases: what the subscription is, in order, as far back as ``since`` at least.
    ///   - access: what the account that has it is now; nil where there is none.
    public func nextDue(
        _ phases: [Phase], rules: EventRules = EventRules(), access: AccountPhase? = nil,
        at now: Timestamp = .distantPast
    ) -> Timestamp? {
        let change = nextChange(phases)
        guard let end, let warning = nextWarning(rules) else { return change }
        var at = warning.at
        if at <= now, !isEnd(end, of: access) { at = now.adding(days: 1) }
        return at < min(end, change ?? end) ? at : change
    }

    /// Whether all access of an account ends at this end of the subscription, and does not go on by itself. True where no
    /// account has the subscription.
    private func isEnd(_ end: Timestamp, of access: AccountPhase?) -> Bool {
        guard let access else { return true }
        return access.access && !access.goesOn && access.expiresAt == end
    }

    /// The warning to give next, and when; nil where none is to be given of the end that is at hand.
    private func nextWarning(_ rules: EventRules) -> (days: Int64, at: Timestamp)? {
        guard let end = end else { return nil }
        let given = warning.flatMap { $0.end == end ? $0.days : nil } ?? .max
        return rules.warningDays.filter { $0 < given }.max().map { ($0, end.adding(days: -$0)) }
    }

    /// The end that nothing is going to renew; nil where there is none at hand.
    private var end: Timestamp? { value.standing == .paid && value.willRenew == false ? value.accessUntil : nil }

    /// The warning that is due: of several the last one, for the others are overtaken; none once the end has come, and
    /// none where the account has access beyond it.
    func dueWarning(
        at now: Timestamp, _ rules: EventRules, access: AccountPhase?
    ) -> (warning: Warning, at: Timestamp)? {
        guard let end, now < end, isEnd(end, of: access) else { return nil }
        let given = warning.flatMap { $0.end == end ? $0.days : nil } ?? .max
        let due = rules.warningDays.filter { $0 < given && end.adding(days: -$0) <= now }
        return due.min().map { (Warning(end: end, days: $0), max(end.adding(days: -$0), since)) }
    }
}

/// A subscription as it is known now, to report from.
public struct SubscriptionNow: Sendable {
    /// The purchase.
    public var key: PurchaseKey
    /// What it is, in order, as far back as the last report at least.
    public var phases: [Phase]
    /// Its periods that may have news; all of them for a first fill.
    public var periods: [PaidPeriod]
    /// The same by the records that were known before.
    public var periodsBefore: [PaidPeriod]
    /// The account that has it; nil for none.
    public var account: UniqueIdentifier?
    /// What that account is now, all its sources together; nil where no catalog says it.
    public var access: AccountPhase?

    /// Memberwise.
    public init(
        key: PurchaseKey, phases: [Phase], periods: [PaidPeriod] = [], periodsBefore: [PaidPeriod] = [],
        account: UniqueIdentifier? = nil, access: AccountPhase? = nil
    ) {
        self.key = key
        self.phases = phases
        self.periods = periods
        self.periodsBefore = periodsBefore
        self.account = account
        self.access = access
    }

    /// What a trial is said to be once the period after it was charged: that period's transaction is the one in question, although
    /// product and end are those of now. A charge that does not stand any more is found in what was known before.
    func afterTrial(_ value: StatusAtInstant) -> StatusAtInstant {
        guard value.inTrial else { return value }
        var converted = value.afterTrial
        let phase = phases.first {
            !$0.value.inTrial && $0.value.standing == .paid && $0.value.transactionID != nil
                && $0.value.periodEndsAt > value.periodEndsAt
        }
        let period = periodsBefore.first {
            !$0.isFreeTrial && $0.revokedAt == nil && $0.replacedAt == nil && $0.expiresAt > value.periodEndsAt
        }
        converted.transactionID = phase?.value.transactionID ?? period?.transactionID ?? value.transactionID
        return converted
    }

    /// What events say that a subscription is, where `reported` was reported last.
    func said(_ reported: LastReportedSubscription) -> StatusAtInstant {
        reported.isConverted ? afterTrial(reported.value) : reported.value
    }

    /// What it is at an instant, and since when; nil before it began, as far as is known here.
    func phase(at instant: Timestamp) -> Phase? { phases.last { $0.startsAt <= instant } }

    /// Whether the last thing that was paid for or given before an instant is the introductory free trial: what is paid for then is the
    /// trial's conversion. What is bought after an end is none; what is renewed is one, however late.
    func followsTrial(at instant: Timestamp, isRenewal: Bool) -> Bool {
        let between: Set<StatusAtInstant.Standing> =
            isRenewal ? [.gracePeriod, .billingRetry, .expired] : [.gracePeriod, .billingRetry]
        let before = phases.last { $0.startsAt < instant && !between.contains($0.value.standing) }
        return before.map { $0.value.inTrial && $0.value.standing == .paid } ?? false
    }
}
