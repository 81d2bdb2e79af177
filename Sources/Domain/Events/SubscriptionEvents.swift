import AppStorePayloads
public import Base
import Subscriptions

/// The events to report for a subscription: a function of what was reported last, what is known now, and the instant.
///
/// **Changes.** All phases since the last report are gone through in order, up to the instant. So one rule covers
/// notifications, the clock and an outage of either, and each event has its true instant. Later phases are reported
/// later, by the clock at ``LastReportedSubscription/nextDue(_:rules:)``. A phase that is the same to a reader is not
/// reported, and so neither is a notification that only repeats what was reported.
///
/// **Corrections.** What was reported is compared with what is known now about *its* instant. If the two differ, the
/// first step leads from the reported value to the right one, and is marked as a correction where the report was wrong: where it
/// never was so. What was so, and had ended or changed before the last report, is reported as the end or change that it is: a refund,
/// dated before the customer was reported to have cancelled, ends access. A
/// failed charge that went through and an end that was moved correct nothing: the earlier value was true. What began
/// and ended before the last reported instant, and is received only now, is not reported, because nothing that stands
/// depends on it; periods and refunds are.
///
/// **Periods and refunds** are reported once each, whenever they are received, since records are kept of them: those
/// that the records show now and did not before. A period that was reported from renewal info is not reported again
/// when its record comes. Neither is one that was reported as it was charged, and that never begins by what was received
/// next: later evidence may restore it, and then it is no news.
///
/// **A part of a period**, such as seats that are added while it runs, is no renewal. The first part is reported as a period;
/// of each further part only a refund is reported.
///
/// **A warning** that the end comes soon speaks of the account's access as a whole: it is given where all of it ends with
/// this subscription, and nothing goes on by itself.
///
/// **A first fill** reports the state at its end, in one event, and nothing that led there.
public struct SubscriptionEvents: Sendable {
    /// The events, in order.
    public private(set) var events: [EventDraft] = []
    /// What has been reported then; nil where there is nothing to report yet.
    public private(set) var reported: LastReportedSubscription?

    private let line: SubscriptionNow
    private let evidence: [Evidence]
    private let now: Timestamp
    private let rules: EventRules

    /// Works it out.
    /// - Parameters:
    ///   - reported: what was reported last; nil for nothing.
    ///   - evidence: what brought the news; nothing where it is the clock.
    ///   - isFill: whether only the present state is reported, where nothing was reported before.
    public init(
        _ reported: LastReportedSubscription?, _ line: SubscriptionNow, evidence: [Evidence] = [], at now: Timestamp,
        isFill: Bool = false,
        rules: EventRules = EventRules()
    ) {
        self.reported = reported
        self.line = line
        self.evidence = evidence.sorted { $0.asOf < $1.asOf }
        self.now = now
        self.rules = rules
        guard let last = line.phase(at: now) else { return }
        if reported == nil, isFill {
            fill(last)
        } else {
            move(at: last)
            goThrough()
            warn()
        }
    }

    // MARK: - Steps

    /// From one value to the next, with the facts that belong there.
    struct Step {
        var old: StatusAtInstant?
        /// The last of the phases that are the same to a reader: a purchase begins moments before Apple states its
        /// future.
        var new: StatusAtInstant
        /// When the first of them begins.
        var since: Timestamp
        /// When the last of them does.
        var last: Timestamp
        /// When the next step begins.
        var until: Timestamp
        /// Whether it leads from what was reported to what is known of the same instant.
        var isRevision = false
        /// What was right before a revision, where that continues what was reported; nil where what was reported never was so.
        var before: StatusAtInstant?

        init(_ phase: Phase, after old: StatusAtInstant?, isRevision: Bool = false) {
            self.old = old
            new = phase.value
            since = phase.startsAt
            last = phase.startsAt
            until = .distantFuture
            self.isRevision = isRevision
        }
    }

    private var steps: [Step] {
        var steps: [Step] = []
        if let reported, let phase = line.phase(at: reported.since) {
            var step = Step(phase, after: reported.value, isRevision: true)
            if let (before, since) = reported.continued(before: phase, in: line) {
                (step.before, step.since) = (before, since)
            }
            steps.append(step)
        }
        let since = reported?.since ?? .distantPast
        for phase in line.phases where phase.startsAt > since && phase.startsAt <= now {
            if let place = steps.indices.last {
                if phase.value.says(sameAs: steps[place].new) {
                    steps[place].new = phase.value
                    steps[place].last = phase.startsAt
                    continue
                }
                steps[place].until = phase.startsAt
            }
            steps.append(Step(phase, after: steps.last?.new ?? reported?.value))
        }
        return steps
    }

    private mutating func goThrough() {
        let steps = steps
        var facts = SubscriptionFact.news(line)
        var neverBegun = (reported?.neverBegun ?? []) + SubscriptionFact.newlyReplaced(line)
        facts.removeAll { fact in
            if case .period(let period) = fact { neverBegun.contains(period.key) } else { false }
        }
        neverBegun.removeAll { key in line.periods.contains { $0.key == key && $0.replacedAt == nil } }
        var unheardEnds = reported?.unheardEnds ?? []
        var isConverted = reported?.isConverted ?? false
        facts.removeAll { fact in
            guard case .period(let period) = fact, let place = unheardEnds.firstIndex(of: period.expiresAt) else {
                return false
            }
            unheardEnds.remove(at: place)
            return true
        }
        var first = facts.startIndex
        for place in steps.indices {
            let next = facts[first...].firstIndex { $0.place >= steps[place].until } ?? facts.endIndex
            addEvents(steps[place], facts[first..<next], &unheardEnds, &isConverted)
            isConverted = isConverted && steps[place].new.inTrial
            first = next
        }
        guard let last = steps.last else { return }
        let heldSince = steps.last { $0.old?.holds(sameAs: $0.new) != true }?.since ?? reported?.heldSince
        reported = LastReportedSubscription(
            value: last.new, since: max(last.last, reported?.since ?? .distantPast), heldSince: heldSince,
            account: line.account,
            unheardEnds: unheardEnds, neverBegun: neverBegun, warning: reported?.warning, isConverted: isConverted)
    }

    private mutating func addEvents(
        _ step: Step, _ facts: ArraySlice<SubscriptionFact>, _ unheardEnds: inout [Timestamp], _ isConverted: inout Bool
    ) {
        let first = events.count
        let wasConverted = isConverted
        defer {
            // From a conversion on, events say what the subscription is after the trial.
            for place in events[first...].indices where wasConverted || isConverted {
                events[place].saysAfterTrial(isConverted, before: wasConverted, line)
            }
        }
        var explained = StepExplanation(
            followsTrial: line.followsTrial(at: step.since, isRenewal: true), isConverted: isConverted)
        for fact in facts {
            let period = fact.period
            let source = evidence(of: fact)
            switch fact {
            case .period:
                let kind = kind(of: period, step, isConverted: isConverted)
                if period.expiresAt > step.since || step.isOf(period) { explained.periods.append(kind) }
                if kind == .subscriptionConverted { (explained.isConverted, isConverted) = (true, true) }
                let isCorrection = step.isOf(period) && step.corrects(by: kind)
                add(kind, step, period, source, at: fact.instant, isCorrection: isCorrection)
            case .refund(_, let isReplacing):
                // What never begins converts nothing.
                if fact.isAheadOfPaid { isConverted = false }
                add(.subscriptionRefunded, step, period, source, at: fact.instant, isCorrection: isReplacing)
            case .reversal:
                explained.hasReversal = explained.hasReversal || step.isOf(period)
                // What was reported as the conversion stands again.
                if fact.isAheadOfPaid, line.followsTrial(at: period.startsAt, isRenewal: period.isRenewal) {
                    (explained.isConverted, isConverted) = (true, true)
                }
                add(.subscriptionRefundReversed, step, period, source, at: fact.instant)
            }
        }
        // What came with a period or a refund has no other cause.
        let evidence = facts.last.flatMap { self.evidence(of: $0) } ?? self.evidence(of: step)
        for change in step.changes(explained) {
            // A moved end has no date but that of the evidence for it.
            let instant = change.kind == .subscriptionExtended ? evidence?.asOf : nil
            add(
                change.kind, step, nil, evidence, at: max(instant ?? step.since, step.since),
                isCorrection: change.isCorrection)
            if change.isOfUnheardPeriod { unheardEnds.append(step.new.periodEndsAt) }
        }
        if events.count == first, let old = step.old(explained), !step.new.says(sameAs: old) {
            add(
                step.otherwise, step, nil, evidence, at: step.since,
                isCorrection: step.corrects { $0.says(sameAs: $1) })
        }
    }

    /// What a period is by its own record and what went before it.
    private func kind(of period: PaidPeriod, _ step: Step, isConverted: Bool) -> EventKind {
        let before = line.phase(at: period.startsAt.adding(milliseconds: -1))?.value
        let charged = line.phase(at: period.chargedAt.adding(milliseconds: -1))?.value
        let isRecovery = [before, charged, step.isOf(period) ? step.old : nil].contains {
            $0?.standing == .gracePeriod || $0?.standing == .billingRetry
        }
        if !period.isFreeTrial, !isConverted, line.followsTrial(at: period.startsAt, isRenewal: period.isRenewal) {
            return .subscriptionConverted
        }
        if period.isRenewal { return isRecovery ? .subscriptionRecovered : .subscriptionRenewed }
        guard let before, before.standing == .paid || before.standing == .gracePeriod else {
            return period.isFreeTrial ? .subscriptionTrialStarted : .subscriptionStarted
        }
        return before.productID == period.productID ? .subscriptionRenewed : .subscriptionProductChanged
    }

    // MARK: - Beside the steps

    private mutating func fill(_ phase: Phase) {
        let kind: EventKind =
            switch phase.value.status {
            case .trial: .subscriptionTrialStarted
            case .active: .subscriptionStarted
            case .cancelled: .subscriptionCancelled
            case .gracePeriod: .subscriptionGracePeriodStarted
            case .billingRetry: .subscriptionBillingRetryStarted
            case .expired: .subscriptionExpired
            case .revoked: .subscriptionRevoked
            }
        let step = Step(phase, after: nil)
        add(
            kind, step, line.periods.last { step.isOf($0) }, evidence.last, at: phase.startsAt)
        reported = LastReportedSubscription(
            value: phase.value, since: phase.startsAt, account: line.account,
            unheardEnds: phase.value.basis == .renewalInfo ? [phase.value.periodEndsAt] : [])
    }

    /// Both accounts get an event, each in its own order.
    private mutating func move(at phase: Phase) {
        guard let reported, let former = reported.account, former != line.account else { return }
        let said = line.said(reported)
        events += draft(
            .subscriptionTransferred, .subscription(said, previous: said), evidence.last, at: now
        ).reportedToBoth(of: EventDraft.Move(from: former, to: line.account))
        self.reported?.account = line.account
    }

    private mutating func warn() {
        guard let reported, let due = reported.dueWarning(at: now, rules, access: line.access) else { return }
        let said = line.said(reported)
        events.append(draft(.subscriptionExpiringSoon, .subscription(said, previous: said), nil, at: due.at))
        self.reported?.warning = due.warning
    }

    // MARK: - Events

    private mutating func add(
        _ kind: EventKind, _ step: Step, _ period: PaidPeriod?, _ source: Evidence?, at instant: Timestamp,
        isCorrection: Bool = false
    ) {
        var event = draft(kind, .subscription(step.new, previous: step.old), source, at: min(instant, now))
        event.period = period
        event.isCorrection = isCorrection
        events.append(event)
    }

    private func draft(
        _ kind: EventKind, _ subject: EventDraft.Subject, _ source: Evidence?, at instant: Timestamp
    ) -> EventDraft {
        EventDraft(
            kind, environment: line.key.environment, bundleID: line.key.bundleID, purchase: line.key,
            account: line.account, subject: subject, source: source, instant: instant,
            isLate: rules.isLate(instant, at: now))
    }

    /// What reported a period, a refund or a reversal: of a refund the first evidence of it, else evidence of the transaction, else the
    /// latest.
    private func evidence(of fact: SubscriptionFact) -> Evidence? {
        let named = evidence.filter { $0.transactionID == fact.period.transactionID }
        if case .refund(let period, _) = fact, let first = named.first(refundedAt: period.revokedAt) { return first }
        return named.last ?? evidence.last
    }

    /// The evidence that changed the subscription: what began to count in the step. Where nothing did, the instant was
    /// known to come; but a revision of what was reported always comes from new evidence.
    private func evidence(of step: Step) -> Evidence? {
        let earliest = step.since.adding(milliseconds: -Self.clockDifference)
        let counting = evidence.last { $0.asOf >= earliest && $0.asOf < step.until }
        return counting ?? (step.isRevision ? evidence.last { $0.asOf < step.until } ?? evidence.first : nil)
    }

    /// The parts of one notification are signed within so many milliseconds of each other.
    private static let clockDifference: Int64 = 2000
}

extension EventDraft {
    /// Says what a subscription is after the trial, where the event is sent in the trial.
    fileprivate mutating func saysAfterTrial(_ isSo: Bool, before wasSo: Bool, _ line: SubscriptionNow) {
        guard case .subscription(let value, let previous) = subject else { return }
        subject = .subscription(
            isSo ? line.afterTrial(value) : value, previous: wasSo ? previous.map { line.afterTrial($0) } : previous)
    }
}

extension LastReportedSubscription {
    /// What was right before something that was not known by then, and when that began; nil unless what was reported was so until then
    /// without a break: the same standing, product and period.
    fileprivate func continued(
        before phase: Phase, in line: SubscriptionNow
    ) -> (before: StatusAtInstant, since: Timestamp)? {
        let phases = line.phases.prefix { $0.startsAt <= phase.startsAt }
        guard let place = phases.lastIndex(where: { !$0.value.says(sameAs: phase.value) }) else { return nil }
        let (before, since) = (phases[place].value, phases[place + 1].startsAt)
        guard since > heldSince, before.holds(sameAs: value), before.transactionID == value.transactionID,
            before.basis == value.basis || value.basis != .renewalInfo
        else { return nil }
        return (before, since)
    }
}

/// What a step's facts say already.
struct StepExplanation {
    /// Whether what is paid for from the step on is the conversion of a trial.
    let followsTrial: Bool
    /// Whether that was reported.
    var isConverted: Bool
    /// The kinds of the periods reported in the step that concern the present.
    var periods: [EventKind] = []
    /// Whether a refund of the period that decides was taken back.
    var hasReversal = false

    var hasPeriod: Bool { !periods.isEmpty }
    var isOfProduct: Bool { periods.contains { $0 != .subscriptionRenewed && $0 != .subscriptionRecovered } }
    /// Whether the conversion is to be reported as a change, if there is one.
    var isConversion: Bool { followsTrial && !isConverted }
}
