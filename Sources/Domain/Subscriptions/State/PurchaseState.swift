import AppStorePayloads
public import Base

/// All that is derived from the facts of one purchase.
public struct PurchaseState: Sendable {
    /// The subscription, if it is one.
    public let subscription: SubscriptionState?
    /// What was bought once, if that is what it is.
    public let oneTime: OneTimePurchase?
    /// What the facts do not explain, in the order of signing.
    public let anomalies: [Anomaly]
    let rules: SubscriptionRules
    let bought: BoughtTransactions?
    /// Whether a reported status decides somewhere, until Apple's next new report.
    private let isDecidedByReport: Bool

    /// Derives the state.
    /// - Parameters:
    ///   - environment: Apple's name of it; outside Production a default grace is counted in minutes.
    ///   - horizon: phases and anomalies are derived from here on, for a caller that knows the earlier ones; by
    ///     default from the beginning.
    ///   - carry: what ``carried(to:)`` says of the horizon by all facts before.
    public init(
        _ facts: PurchaseFacts, in environment: String = Environment.production.rawValue,
        policy: StatusPolicy = StatusPolicy(), from horizon: Timestamp = .distantPast, carry: LineCarry = LineCarry()
    ) {
        let facts = facts.counting
        rules = SubscriptionRules(facts, in: environment, policy: policy, carry: carry, from: horizon)
        let unexplained = UnexplainedReports(facts, rules, from: horizon)
        isDecidedByReport = !unexplained.instants.isEmpty
        bought = BoughtTransactions(facts)
        oneTime = bought.map { OneTimePurchase($0) }
        anomalies =
            unexplained.anomalies
            + (bought?.unclear ?? []).map {
                Anomaly(.purchaseUnclear, signedAt: $0.signedAt, transactionID: $0.transactionID)
            }
        var instants =
            rules.instants(from: horizon)
            + (unexplained.instants + rules.origins.instants).filter { $0 >= horizon }
        if horizon > .distantPast { instants.append(horizon) }
        instants.sort()
        var phases: [Phase] = []
        var previous: Timestamp?
        for instant in instants where instant != previous {
            previous = instant
            guard let value = unexplained.value(at: instant) ?? phases.last?.value.ended(at: instant) else { continue }
            let phase = Phase(startsAt: instant, value: value, origin: rules.origin(of: value, at: instant))
            if phases.last?.continues(as: phase) != true { phases.append(phase) }
        }
        Self.noteWaiting(&phases, policy)
        subscription = SubscriptionState(
            phases, subscriptionGroupID: (rules.periods.last { $0.replacedAt == nil })?.record.subscriptionGroupID,
            stretchEnds: rules.origins.stretchEnds)
    }

    /// Derives the state from a horizon on without the facts about periods that began before `cut`; nil where those facts
    /// might change it.
    public init?(
        _ facts: PurchaseFacts, in environment: String = Environment.production.rawValue,
        policy: StatusPolicy = StatusPolicy(), cutAt cut: Timestamp, from horizon: Timestamp, carry: LineCarry
    ) {
        guard Self.mayBeCut(facts, at: cut, from: horizon) else { return nil }
        var kept = facts
        kept.cut(at: cut)
        self.init(kept, in: environment, policy: policy, from: horizon, carry: carry)
        if isDecidedByReport, !Self.isNewsKept(of: facts, at: cut, from: horizon) { return nil }
    }

    /// Notes until when a renewal was to be waited for, in each phase that something Apple reported ended earlier.
    private static func noteWaiting(_ phases: inout [Phase], _ policy: StatusPolicy) {
        guard policy.renewalLeewaySeconds > 0 else { return }
        for next in phases.indices.dropFirst() {
            let value = phases[next - 1].value
            guard value.status.access, value.basis != .reportedStatus, value.graceEndsAt == nil,
                value.expiresAt < phases[next].startsAt
            else { continue }
            let waitsUntil = value.expiresAt.adding(seconds: policy.renewalLeewaySeconds)
            if phases[next].startsAt < waitsUntil { phases[next - 1].origin.waitsUntil = waitsUntil }
        }
    }

    /// What the facts up to an instant come to. A caller that leaves them out derives the rest with this.
    public func carried(to instant: Timestamp) -> LineCarry {
        var carry = rules.origins.carried(to: instant, rules.periods)
        if let phase = subscription?.phases.last(where: { $0.startsAt <= instant }),
            let chargedAt = phase.origin.chargedAt
        {
            (carry.chargedTransactionID, carry.chargedAt) = (phase.value.transactionID, chargedAt)
        }
        return carry
    }

    /// Whether all records are signed, and dated as Apple dates them:
    /// - the parts of a notification are dated within a day of the whole;
    /// - a purchase is dated at most a day and a half after its signature;
    /// - all records of one period have one date.
    ///
    /// Only then can dates separate the facts' end from their beginning; see ``mayBeCut(_:at:from:)``.
    public static func isRegular(_ facts: PurchaseFacts) -> Bool {
        var purchasedAt: [String: Timestamp?] = [:]
        for fact in facts.transactions {
            guard fact.isRegular else { return false }
            let known = purchasedAt.updateValue(fact.purchasedAt, forKey: fact.periodKey)
            if let known, known != fact.purchasedAt { return false }
        }
        return facts.renewals.allSatisfy(\.isRegular)
    }

    /// True if dropping facts about periods before `cut` cannot change the state at or after `horizon`, unless a reported
    /// status decides there.
    ///
    /// That holds under these conditions:
    /// - a period that is kept began, and was signed, before Apple's last report by the horizon: it ends whatever ran before it;
    /// - that last report is about a period that is kept;
    /// - what decides together is kept together: parts of one period, a renewal that was charged ahead and the plan that
    ///   was bought before it began, renewal info and the period that it names.
    package static func mayBeCut(_ facts: PurchaseFacts, at cut: Timestamp, from horizon: Timestamp) -> Bool {
        guard !facts.rarities.contains(.parts),
            let reported = facts.reportedStatuses.last(where: { $0.asOf <= horizon })?.asOf,
            let renewal = facts.renewals.last(where: { $0.asOf <= reported }), renewal.asOf >= cut
        else { return false }
        let kept = facts.transactions.filter { $0.purchasedAt.map { $0 >= cut } ?? true }
        if kept.count < facts.transactions.count {
            let keptKeys = Set(kept.map(\.periodKey))
            let isDivided = facts.transactions.contains {
                $0.purchasedAt.map { $0 < cut } == true && keptKeys.contains($0.periodKey)
            }
            if isDivided { return false }
        }
        let periods = Period.all(of: PurchaseFacts(transactions: kept))
        guard let first = periods.first else { return false }
        return first.start <= reported && first.firstSignedAt <= reported
            && !(first.record.isRenewal && first.wasRevoked) && first.replacedAt == nil
            && areIndependent(periods, of: facts, cutAt: cut)
    }

    /// Whether the facts from `cut` on suffice to know when Apple's next new report came, after the last one by the horizon.
    private static func isNewsKept(of facts: PurchaseFacts, at cut: Timestamp, from horizon: Timestamp) -> Bool {
        // Whether renewal info says something new must not depend on what was said of a period that is left out.
        guard facts.renewals.allSatisfy({ $0.asOf < cut || $0.renewsAt.map { $0 > cut } ?? false }) else {
            return false
        }
        // What was recorded since about a period that is left out must have come with a status: that ends the report
        // before, whether or not the record says something new.
        let reports = Set(facts.reportedStatuses.map(\.asOf))
        let reported = facts.reportedStatuses.last { $0.asOf <= horizon }?.asOf ?? .distantPast
        return facts.transactions.allSatisfy {
            $0.asOf < reported || reports.contains($0.asOf) || $0.purchasedAt.map { $0 >= cut } ?? true
        }
    }
}

extension PurchaseState {
    /// Whether nothing that is left out has a say in what replaced what among the periods that are kept.
    private static func areIndependent(_ kept: [Period], of facts: PurchaseFacts, cutAt cut: Timestamp) -> Bool {
        guard let first = kept.first else { return false }
        let dayBefore = cut.adding(days: -StatusPolicy.renewsEarlyDays)
        for record in facts.transactions {
            guard let purchasedAt = record.purchasedAt, dayBefore <= purchasedAt, purchasedAt < cut,
                let plan = Period([record])
            else { continue }
            if kept.contains(where: plan.mayReplace) { return false }
        }
        let product = first.record.productID
        let areOfOne = kept.areOfOneProduct
        // What Apple's word of an upgrade decides depends on all other periods.
        let isByFlag =
            !areOfOne
            && kept.indices.contains { index in
                let renewal = kept[index]
                return renewal.record.isUpgraded
                    && kept[..<index].contains { $0.mayReplace(renewal) && $0.start <= renewal.firstSignedAt }
            }
        guard !isByFlag else { return false }
        if areOfOne, facts.renewals.allSatisfy({ $0.productID == nil || $0.productID == product }) { return true }
        // What repeats a word that is left out has its status from that.
        let words = RenewalWord.all(of: facts).lazy.map(\.fact)
        return (facts.renewals + words).allSatisfy { renewal in
            guard renewal.reportedStatus == ReportedStatus.active, let named = renewal.productID,
                !(areOfOne && named == product), let renewsAt = renewal.renewsAt
            else { return true }
            // What it names is kept, or all that is kept was bought since.
            return kept.contains { $0.record.productID == named && $0.expiresAt == renewsAt }
                || kept.allSatisfy {
                    $0.record.productID == named || renewal.asOf < min($0.start, $0.firstSignedAt)
                }
        }
    }
}

extension TransactionFact {
    /// A day: the most that Apple's dates within one notification may differ; in practice, a thousandth of it.
    public static let regularDelay: Int64 = 86_400_000

    /// Whether it is signed, and dated as Apple dates records. An unsigned one may give way to a signed
    /// one of any date.
    public var isRegular: Bool {
        !isUnsigned && (kind != .autoRenewableSubscription || isUsablePeriod)
            && signedAt.milliseconds(since: asOf) <= Self.regularDelay
            && (purchasedAt.map { $0.milliseconds(since: asOf) <= Self.regularDelay * 3 / 2 } ?? true)
    }
}

extension RenewalFact {
    /// Whether it is signed, and dated as Apple dates records.
    public var isRegular: Bool { !isUnsigned && signedAt.milliseconds(since: asOf) <= TransactionFact.regularDelay }
}
