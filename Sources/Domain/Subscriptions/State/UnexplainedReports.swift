import AppStorePayloads
import Base

/// The statuses that Apple reported and the records do not explain. Each decides until Apple signs something new about a
/// later time, and is an anomaly. Against the records it decides as long as what it came with, at the longest. After that a 2 or 5 decides
/// where the records give no access: then both agree on the access, and Apple's number is the reason.
struct UnexplainedReports {
    /// A reported status that decides.
    private struct Override {
        let report: ReportedStatus
        /// How long it decides against the records, by what it came with.
        let limit: Timestamp
        /// When something that Apple signed later ends it.
        let end: Timestamp

        /// Whether it says that there is no access.
        private var isWithoutAccess: Bool {
            report.status == ReportedStatus.expired || report.status == ReportedStatus.revoked
        }

        /// Where it may begin or cease to decide.
        var instants: [Timestamp] { [report.asOf, min(limit, end)] + (isWithoutAccess ? [end] : []) }

        /// Whether it decides at an instant.
        /// - Parameter value: by the records.
        func decides(at instant: Timestamp, _ value: StatusAtInstant?) -> Bool {
            guard report.asOf <= instant, instant < end else { return false }
            return instant < limit || isWithoutAccess && value?.status.access != true
        }
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
        var news: [News]?
        let first = rules.reportedStatus(at: horizon)?.asOf ?? horizon
        for report in facts.reportedStatuses where report.asOf >= first {
            let derived = rules.value(at: report.signedAt)?.status.appleStatus
            guard Self.contradicts(report, derived) else { continue }
            // What arrived since may only seem to contradict it: a refund is dated before it is reported.
            let then = SubscriptionRules(
                facts.known(at: max(report.signedAt, report.asOf)), in: rules.environment, policy: rules.policy,
                // Whose it was decides nothing here.
                from: .distantFuture)
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
            let context = Context(of: report, facts, then)
            // "In grace" and "not retrying" in one notification: there is no grace without a retry.
            if report.status == ReportedStatus.gracePeriod, context.renewal?.inBillingRetry == false { continue }
            let known = news ?? News.all(in: facts)
            news = known
            let limit = Self.limit(of: report, context, rules.policy, in: rules.environment)
            let end = Self.end(of: report, context, known, rules)
            overrides.append(Override(report: report, limit: limit, end: end))
        }
        self.anomalies = anomalies.sorted {
            ($0.signedAt, $0.kind.rawValue, $0.transactionID ?? "") < (
                $1.signedAt, $1.kind.rawValue, $1.transactionID ?? ""
            )
        }
        self.overrides = overrides
    }

    /// Where an answer may change because a report begins or ceases to decide.
    var instants: [Timestamp] {
        overrides.flatMap(\.instants).filter { $0 < .distantFuture }
    }

    /// The status at an instant, reports included.
    func value(at instant: Timestamp) -> StatusAtInstant? {
        let value = rules.value(at: instant)
        guard let override = overrides.last(where: { $0.report.asOf <= instant }), override.decides(at: instant, value)
        else { return value }
        let renewal = rules.renewal(at: instant)
        let end = override.limit < .distantFuture ? override.limit : override.report.asOf
        var decided =
            value
            ?? StatusAtInstant(
                status: .expired, basis: .reportedStatus, productID: renewal?.productID, expiresAt: end,
                periodEndsAt: end)
        decided.basis = .reportedStatus
        decided.graceEndsAt = nil
        switch override.report.status {
        case ReportedStatus.active:
            decided.status = renewal?.autoRenew == false ? .cancelled : .active
            decided.expiresAt = max(decided.expiresAt, override.limit)
        case ReportedStatus.gracePeriod:
            decided.status = .gracePeriod
            decided.graceEndsAt = override.limit
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

    /// How long a report decides against the records if Apple says nothing else: as long as what it came with.
    /// - 1 to the renewalDate or expiresDate ahead, else a day;
    /// - 3 as long as Apple retries;
    /// - 4 to the end of grace;
    /// - 2 and 5 to that date, else to the end of the periods that were known, else as long as nothing is said.
    private static func limit(
        of report: ReportedStatus, _ context: Context, _ policy: StatusPolicy, in environment: String
    ) -> Timestamp {
        let limit: Timestamp? =
            switch report.status {
            case ReportedStatus.billingRetry:
                context.ahead(context.expiry?.adding(days: StatusPolicy.billingRetryDays))
            case ReportedStatus.gracePeriod:
                context.ahead(context.renewal?.graceExpiresAt)
                    ?? context.ahead(context.expiry.map { policy.graceEnd(from: $0, in: environment) })
            case ReportedStatus.expired, ReportedStatus.revoked:
                context.ahead(context.renewal?.renewsAt) ?? context.ahead(context.expiresAt)
                    ?? context.ahead(context.knownEnd) ?? .distantFuture
            default: context.ahead(context.renewal?.renewsAt) ?? context.ahead(context.expiresAt)
            }
        return limit ?? report.signedAt.adding(days: StatusPolicy.unexplainedDays)
    }

    /// What ends a report: the next reported status, the next record that Apple signs after it and that says something new, and a later
    /// period. In the distant future without any.
    private static func end(
        of report: ReportedStatus, _ context: Context, _ news: [News], _ rules: SubscriptionRules
    ) -> Timestamp {
        let next = news.lazy.compactMap { $0.instant(after: report, context) }.min()
        return [next, rules.nextReport(after: report.asOf), rules.nextStart(after: report.signedAt)]
            .compactMap(\.self).min() ?? .distantFuture
    }

    /// What a report came with, and what was known when it was signed. The parts of a notification count from the
    /// earliest of their dates on, and not later than from the whole's.
    private struct Context {
        let signedAt: Timestamp
        let renewal: RenewalFact?
        /// The end of the period that it came with, if that was the newest one.
        let expiresAt: Timestamp?
        /// The end of all periods that were known.
        let knownEnd: Timestamp?
        /// When the newest period that was known began.
        let newestStart: Timestamp

        /// - Parameter then: the rules over the facts that were known.
        init(of report: ReportedStatus, _ facts: PurchaseFacts, _ then: SubscriptionRules) {
            let parts = report.asOf...max(report.asOf, report.signedAt)
            signedAt = report.signedAt
            renewal = facts.renewals.last {
                !$0.isUnsigned && parts.contains($0.asOf) && $0.reportedStatus == report.status
            }
            let counting = then.periods.filter { $0.replacedAt == nil }
            let newest = counting.last
            newestStart = newest?.start ?? .distantPast
            expiresAt =
                facts.transactions.last {
                    !$0.isUnsigned && parts.contains($0.asOf) && $0.isUsablePeriod
                        && $0.periodKey == newest?.record.periodKey
                }?.expiresAt
            knownEnd = counting.map(\.end).max()
        }

        /// The end of what was paid for, by what the report came with, else by what was known.
        var expiry: Timestamp? { renewal?.renewsAt ?? expiresAt ?? knownEnd }

        /// The date, if it lies after the report's signature.
        func ahead(_ date: Timestamp?) -> Timestamp? { date.flatMap { $0 > signedAt ? $0 : nil } }
    }

    /// A signed record that says something new: it differs in more than its signature from every record of the same
    /// transaction, or renewal info, that was signed before it.
    private struct News {
        let asOf: Timestamp
        /// Of a refund, when the period began and when it was refunded.
        var refund: (start: Timestamp, date: Timestamp)?

        static func all(in facts: PurchaseFacts) -> [News] {
            var (transactions, renewals) = (Set<TransactionFact>(), Set<RenewalFact>())
            var news: [News] = []
            for fact in facts.transactions where !fact.isUnsigned && transactions.insert(fact.saying).inserted {
                var word = News(asOf: fact.asOf)
                if let start = fact.purchasedAt, let date = fact.revokedAt { word.refund = (start, date) }
                news.append(word)
            }
            for fact in facts.renewals where !fact.isUnsigned && renewals.insert(fact.saying).inserted {
                news.append(News(asOf: fact.asOf))
            }
            return news
        }

        /// When it ends a report; nil where it was not signed after it. A refund counts from its own date, if it is not
        /// of an earlier period than the report is about.
        func instant(after report: ReportedStatus, _ context: Context) -> Timestamp? {
            guard asOf > report.signedAt else { return nil }
            guard let refund, refund.start >= context.newestStart, refund.date > report.signedAt else { return asOf }
            return min(asOf, refund.date)
        }
    }

    /// Periods that Apple's records presuppose and that never arrived, and transactions that give nothing.
    private static func missing(
        _ facts: PurchaseFacts, _ rules: SubscriptionRules, from horizon: Timestamp
    ) -> [Anomaly] {
        var anomalies: [Anomaly] = []
        for renewal in facts.renewals where renewal.asOf >= horizon {
            if let transactionID = rules.contradicted(by: renewal) {
                anomalies.append(Anomaly(.upgradeMissing, signedAt: renewal.signedAt, transactionID: transactionID))
            } else if rules.impliesPeriod(renewal) {
                anomalies.append(
                    Anomaly(.periodMissing, signedAt: renewal.signedAt, reportedStatus: renewal.reportedStatus))
            }
        }
        let last = rules.periods.last { $0.replacedAt == nil }
        for period in rules.periods where period.record.asOf >= horizon {
            guard period.record.isUpgraded, period.record == last?.record else { continue }
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
        return periods.contains {
            $0.record.isRenewal && $0.isRevoked && $0.replacedAt == nil && $0.start >= lastDay
        }
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
