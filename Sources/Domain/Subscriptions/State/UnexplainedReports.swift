import AppStorePayloads
import Base

/// The statuses that Apple reported and the records do not explain. Each decides for a while, and is an anomaly.
struct UnexplainedReports {
    /// A reported status that decides.
    private struct Override {
        let report: ReportedStatus
        /// Ended by the first of: a later signed statement of Apple's, a new period, its renewalDate, a day.
        let until: Timestamp
    }

    let anomalies: [Anomaly]
    private let overrides: [Override]
    private let rules: SubscriptionRules

    /// - Parameter horizon: judged are the reports that count from here on, and the one in force here, which may still
    ///   decide.
    init(_ facts: PurchaseFacts, _ rules: SubscriptionRules, from horizon: Timestamp) {
        self.rules = rules
        var anomalies = Self.missing(facts, rules, from: horizon)
        var overrides: [Override] = []
        let first = rules.reportedStatus(at: horizon)?.asOf ?? horizon
        for report in facts.reportedStatuses where report.asOf >= first {
            let derived = rules.value(at: report.signedAt)?.status.appleStatus
            guard Self.contradicts(report, derived) else { continue }
            // What arrived since may only seem to contradict it: a refund is dated before it is reported.
            let then = SubscriptionRules(
                facts.known(at: max(report.signedAt, report.asOf)), in: rules.environment, policy: rules.policy)
            guard Self.contradicts(report, then.value(at: report.signedAt)?.status.appleStatus),
                !then.isRefundedEarlyRenewal(at: report)
            else { continue }
            if report.asOf >= horizon {
                anomalies.append(
                    Anomaly(
                        .statusContradicted, signedAt: report.signedAt, reportedStatus: report.status,
                        derivedStatus: derived))
            }
            // A report that a later-signed one overtook before it began to count decides nothing.
            guard rules.reportedStatus(at: report.asOf) == report else { continue }
            overrides.append(Override(report: report, until: Self.end(of: report, rules)))
        }
        self.anomalies = anomalies.sorted {
            ($0.signedAt, $0.kind.rawValue, $0.transactionID ?? "") < (
                $1.signedAt, $1.kind.rawValue, $1.transactionID ?? ""
            )
        }
        self.overrides = overrides
    }

    /// Where an answer may change because a report begins or ceases to decide.
    var instants: [Timestamp] { overrides.flatMap { [$0.report.asOf, $0.until] } }

    /// The status at an instant, reports included.
    func value(at instant: Timestamp) -> StatusAtInstant? {
        let value = rules.value(at: instant)
        guard let override = overrides.last(where: { $0.report.asOf <= instant }), instant < override.until else {
            return value
        }
        let renewal = rules.renewal(at: instant)
        var decided =
            value
            ?? StatusAtInstant(
                status: .expired, basis: .reportedStatus, productID: renewal?.productID, expiresAt: override.until,
                periodEndsAt: override.until)
        decided.basis = .reportedStatus
        decided.graceEndsAt = nil
        switch override.report.status {
        case ReportedStatus.active:
            decided.status = renewal?.autoRenew == false ? .cancelled : .active
            decided.expiresAt = max(decided.expiresAt, override.until)
        case ReportedStatus.gracePeriod:
            decided.status = .gracePeriod
            decided.graceEndsAt = override.until
        case ReportedStatus.billingRetry: decided.status = .billingRetry
        case ReportedStatus.revoked: decided.status = .revoked
        default: decided.status = .expired
        }
        decided.inTrial = decided.inTrial && decided.status.isPaid
        decided.priceIncreasePending = decided.priceIncreasePending && decided.status.access
        if !decided.status.access { decided.expiresAt = min(decided.expiresAt, override.report.asOf) }
        return decided
    }

    private static func contradicts(_ report: ReportedStatus, _ derived: Int?) -> Bool {
        guard let derived else {
            return report.status != ReportedStatus.expired && report.status != ReportedStatus.revoked
        }
        return derived != report.status
    }

    private static func end(of report: ReportedStatus, _ rules: SubscriptionRules) -> Timestamp {
        var end = report.asOf.adding(days: StatusPolicy.unexplainedDays)
        if let renewsAt = rules.renewal(at: report.asOf)?.renewsAt, renewsAt > report.asOf { end = renewsAt }
        if let next = rules.nextStatement(after: report.asOf) { end = min(end, next) }
        return end
    }

    /// Periods that Apple's records presuppose and that never arrived, and transactions that give nothing.
    private static func missing(
        _ facts: PurchaseFacts, _ rules: SubscriptionRules, from horizon: Timestamp
    ) -> [Anomaly] {
        var anomalies: [Anomaly] = []
        for renewal in facts.renewals where renewal.asOf >= horizon {
            guard rules.impliesPeriod(renewal) else { continue }
            anomalies.append(
                Anomaly(.periodMissing, signedAt: renewal.signedAt, reportedStatus: renewal.reportedStatus))
        }
        for period in rules.periods where period.record.asOf >= horizon {
            guard period.record.isUpgraded, period.record == rules.periods.last?.record else { continue }
            anomalies.append(
                Anomaly(
                    .upgradeMissing, signedAt: period.record.signedAt, transactionID: period.record.transactionID))
        }
        for fact in facts.transactions where fact.asOf >= horizon && fact.isUnusable {
            anomalies.append(
                Anomaly(.transactionUnusable, signedAt: fact.signedAt, transactionID: fact.transactionID))
        }
        return anomalies
    }
}

extension SubscriptionRules {
    /// Whether the period that this names never arrived, as seen when it was signed.
    fileprivate func impliesPeriod(_ renewal: RenewalFact) -> Bool {
        renewal.reportedStatus != nil && self.renewal(at: renewal.asOf) == renewal
            && impliesPeriod(renewal, at: renewal.asOf)
    }

    /// Whether a reported 5 is about a renewal that was charged early and refunded: the period before it runs on.
    fileprivate func isRefundedEarlyRenewal(at report: ReportedStatus) -> Bool {
        guard report.status == ReportedStatus.revoked, let covering = covering(report.signedAt) else { return false }
        let lastDay = covering.expiresAt.adding(days: -StatusPolicy.renewsEarlyDays)
        return periods.contains { $0.record.isRenewal && $0.isRevoked && $0.start >= lastDay }
    }
}

extension TransactionFact {
    /// Whether it gives nothing for want of a kind or a date.
    fileprivate var isUnusable: Bool {
        switch kind {
        case .autoRenewableSubscription: !isUsablePeriod
        case .nonConsumable, .consumable, .nonRenewingSubscription: purchasedAt == nil
        case nil where OneTimePurchase.Kind(self) != nil: purchasedAt == nil
        default: true
        }
    }
}
