public import AppStorePayloads

/// A line's state as a function of time, derived from its facts and nothing else.
///
/// The function is piecewise constant: it changes only at instants that the facts name (a period begins or ends, grace
/// ends, retrying ends). So it can be asked at any instant, by ``status(at:)``, and stored whole, as ``phases``.
public struct SubscriptionState: Sendable, Hashable {
    /// The subscription group, by the latest period.
    public let subscriptionGroupID: String?
    /// The account, by the latest-signed record that names one: a token may be missing, come late, or change.
    public let appAccountToken: UniqueIdentifier?
    /// `PURCHASED` or `FAMILY_SHARED`, by the latest period.
    public let ownership: String?
    /// Whether auto-renew is on; nil where Apple never said.
    public let willRenew: Bool?
    /// What the line renews to.
    public let renewalProductID: String?
    /// Whether the customer has yet to agree to a higher price.
    public let priceIncreasePending: Bool
    /// Why it ended, or will: 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 product unavailable, 5 other.
    public let expirationIntent: Int?

    /// When the latest period that is known ends, the next one included where it is charged already.
    public var paidUntil: Timestamp { periods[periods.count - 1].end }

    private let periods: [Period]
    private let renewal: RenewalFact?
    private let graceExpiresAt: Timestamp?

    /// Derives the state; nil where the facts name no auto-renewable period.
    public init?(_ facts: PurchaseFacts, policy: StatusPolicy = StatusPolicy()) {
        periods = Period.all(of: facts)
        guard let latest = periods.last else { return nil }
        // Renewal info that a later period has overtaken says nothing any more.
        renewal = facts.renewal.flatMap { $0.isStale(beside: latest) ? nil : $0 }
        let overtaken = facts.renewal != nil && renewal == nil
        graceExpiresAt = overtaken ? nil : Self.grace(renewal, facts.reportedStatus, latest, policy)

        subscriptionGroupID = latest.record.subscriptionGroupID
        ownership = latest.record.ownership
        willRenew = overtaken ? true : renewal?.autoRenew
        renewalProductID = overtaken ? latest.record.productID : renewal?.renewalProductID
        priceIncreasePending = renewal?.priceIncreasePending ?? false
        expirationIntent = renewal?.expirationIntent
        appAccountToken = Self.account(facts)
    }

    /// What the subscription is at an instant.
    public func status(at instant: Timestamp) -> StatusAtInstant {
        if let period = periods.last(where: { $0.contains(instant) }) {
            let status: SubscriptionStatus =
                if willRenew == false { .cancelled } else if period.record.isFreeTrial { .trial } else { .active }
            return StatusAtInstant(status, in: period)
        }
        // Not covered, but the next period is paid for already.
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        let next = periods.first { $0.record.isRenewal && instant < $0.start && $0.start <= soon && $0.start < $0.end }
        if let next {
            return StatusAtInstant(.active, in: next)
        }
        // The last period that has begun decides, and where none has, the first one known.
        guard let begun = periods.last(where: { $0.start <= instant }) else {
            return StatusAtInstant(.expired, in: periods[0])
        }
        if begun.isRevoked { return StatusAtInstant(.revoked, in: begun) }
        // Grace and retry are spoken of the latest period; in a gap before it they are over.
        if begun == periods.last {
            if let graceExpiresAt, instant < graceExpiresAt { return StatusAtInstant(.gracePeriod, in: begun) }
            let retriesUntil = begun.end.adding(days: StatusPolicy.billingRetryDays)
            if renewal?.inBillingRetry == true, instant < retriesUntil {
                return StatusAtInstant(.billingRetry, in: begun)
            }
        }
        return StatusAtInstant(.expired, in: begun)
    }

    /// The whole function: each phase begins where the one before it ends, the first one at the beginning of time.
    public var phases: [Phase] {
        var instants: Set<Timestamp> = [.distantPast]
        for period in periods {
            instants.insert(period.start)
            instants.insert(period.end)
            if period.record.isRenewal {
                instants.insert(period.start.adding(days: -StatusPolicy.renewsEarlyDays))
            }
        }
        if let graceExpiresAt { instants.insert(graceExpiresAt) }
        if renewal?.inBillingRetry == true, let end = periods.last?.end {
            instants.insert(end.adding(days: StatusPolicy.billingRetryDays))
        }
        var phases: [Phase] = []
        for instant in instants.sorted() {
            let value = status(at: instant)
            if phases.last?.value != value { phases.append(Phase(startsAt: instant, value: value)) }
        }
        return phases
    }

    /// When grace ends, where there is any: Apple's date, else the operator's days where Apple's latest word is "grace".
    private static func grace(
        _ renewal: RenewalFact?, _ reportedStatus: ReportedStatus?, _ latest: Period, _ policy: StatusPolicy
    ) -> Timestamp? {
        if let date = renewal?.graceExpiresAt { return date }
        // A reportedStatus given before this period was about to end speaks of an earlier failure.
        let aboutToEnd = latest.end.adding(days: -StatusPolicy.renewsEarlyDays)
        guard let reportedStatus, reportedStatus.status == ReportedStatus.gracePeriod,
            reportedStatus.signedAt > aboutToEnd
        else { return nil }
        return latest.end.adding(days: policy.graceDays)
    }

    private static func account(_ facts: PurchaseFacts) -> UniqueIdentifier? {
        var latest: (signedAt: Timestamp, token: UniqueIdentifier)?
        func consider(_ token: UniqueIdentifier?, signedAt: Timestamp) {
            guard let token, latest.map({ (signedAt, token) > ($0.signedAt, $0.token) }) ?? true else { return }
            latest = (signedAt, token)
        }
        for fact in facts.transactions.values { consider(fact.appAccountToken, signedAt: fact.signedAt) }
        if let renewal = facts.renewal { consider(renewal.appAccountToken, signedAt: renewal.signedAt) }
        return latest?.token
    }
}
