import AppStorePayloads
import Base

/// The rules of a subscription's status, over facts that are sorted once and asked at any instant.
///
/// What has a date of its own (a purchase, an expiry, a refund) counts from that date, whenever it arrived; what has
/// none (auto-renew, retries, grace, a reported status, a reversal) counts from its signature to the next of its kind.
struct SubscriptionRules {
    let environment: String
    let policy: StatusPolicy
    /// In order of (purchase, expiry, transactionId).
    let periods: [Period]
    /// Whether they are of more than one product: only then can renewal info name another one than the records give.
    let areOfSeveralProducts: Bool
    /// Whether one of them was replaced before it began.
    private let hasReplaced: Bool
    let renewals: [RenewalWord]
    /// By the instant from which on each counts: the latest-signed one that counts by then.
    private let reported: [(asOf: Timestamp, fact: ReportedStatus)]
    /// For each period, the latest end and the latest expiry of it and all before it: where a search may stop.
    private let latestEnd: [Timestamp]
    let latestExpiry: [Timestamp]
    /// The customer's purchases, the stretches, and the accounts of the periods.
    private(set) var origins = LineOrigins()

    /// - Parameters:
    ///   - carry: what the periods up to the horizon come to, where earlier ones are left out.
    ///   - horizon: from where on the answers are asked for.
    init(
        _ facts: PurchaseFacts, in environment: String, policy: StatusPolicy, carry: LineCarry = LineCarry(),
        from horizon: Timestamp = .distantPast
    ) {
        self.environment = environment
        self.policy = policy
        renewals = RenewalWord.all(of: facts)
        let periods = Period.all(of: facts, words: renewals)
        self.periods = periods
        areOfSeveralProducts = !periods.areOfOneProduct
        hasReplaced = areOfSeveralProducts && periods.contains { $0.replacedAt != nil }
        reported = facts.reportedStatuses.effective(asOf: \.asOf)
        var (end, expiry) = (Timestamp.distantPast, Timestamp.distantPast)
        latestEnd = periods.map {
            end = max(end, $0.end)
            return end
        }
        latestExpiry = periods.map {
            expiry = max(expiry, $0.expiresAt, $0.formerEnds.max() ?? .distantPast)
            return expiry
        }
        origins = LineOrigins(facts, self, carry, from: horizon)
    }

    /// From when on each renewal info counts.
    var renewalInstants: [Timestamp] { renewals.map(\.asOf) }

    func renewal(at instant: Timestamp) -> RenewalFact? { place(ofWordAt: instant).map { renewals[$0].fact } }

    func reportedStatus(at instant: Timestamp) -> ReportedStatus? {
        let next = reported.partitioningIndex { $0.asOf > instant }
        return next > 0 ? reported[next - 1].fact : nil
    }

    /// What the records say of an instant; nil before the first purchase.
    func value(at instant: Timestamp) -> StatusAtInstant? {
        let next = periods.partitioningIndex { $0.start > instant }
        let renewal = renewal(at: instant)
        let isStale = renewal.map { self.isStale($0, at: instant) } ?? false
        let current = isStale ? nil : renewal
        let implied = current.flatMap { impliesPeriod($0, at: instant, before: next) ? $0 : nil }
        let base = Base(instant: instant, current: current, isStale: isStale)

        let begun = lastBegun(at: instant, before: next)
        let covering = covering(instant, before: next)
        if let named = named(by: current, insteadOf: covering ?? begun, at: instant, before: next) {
            let period = periods[named].unreplaced
            return base.value(
                base.paidStatus(isFreeTrial: period.record.isFreeTrial), in: period,
                of: account(of: named, at: instant, renewal),
                expiresAt: period.end(asSeenAt: instant))
        }
        if let covering {
            var value = base.value(
                base.paidStatus(isFreeTrial: periods[covering].record.isFreeTrial), in: periods[covering],
                of: account(of: covering, at: instant, renewal),
                expiresAt: endOfStretch(from: covering, at: instant, implied))
            if let implied, let renewsAt = implied.renewsAt, extends(covering, by: implied, at: instant) {
                value.periodEndsAt = renewsAt
            }
            return value
        }
        if let implied, let renewsAt = implied.renewsAt, instant < renewsAt {
            return base.value(
                base.paidStatus(), by: implied, until: renewsAt, account(of: next - 1, at: instant, implied))
        }
        // The next period is paid for already.
        if let early = chargedAhead(of: instant, from: next) {
            return base.value(
                .active, in: periods[early], of: account(of: early, at: instant, renewal),
                expiresAt: endOfStretch(from: early, at: instant, nil))
        }
        if let implied, let renewsAt = implied.renewsAt {
            let (status, grace) = statusAfter(renewsAt, base)
            return base.value(
                status, by: implied, until: renewsAt, graceEndsAt: grace, account(of: next - 1, at: instant, implied))
        }
        // The last period that has begun decides, or the first one, where that was paid ahead and refunded since.
        guard let last = begun else {
            return chargedAhead(of: instant, from: next, isRevoked: true).map {
                base.value(
                    .revoked, in: periods[$0], of: account(of: $0, at: instant, renewal),
                    expiresAt: periods[$0].end(asSeenAt: instant))
            }
        }
        if periods[last].isRevoked(at: instant) {
            return base.value(
                .revoked, in: periods[last], of: account(of: last, at: instant, renewal),
                expiresAt: periods[last].end(asSeenAt: instant))
        }
        let end = periods[last].end
        let (status, grace) = statusAfter(
            end, boughtAt: periods[last].chargedAt, isFreeTrial: periods[last].record.isFreeTrial, base)
        return base.value(
            status, in: periods[last], of: account(of: last, at: instant, renewal), expiresAt: end, graceEndsAt: grace)
    }

    /// The last period that has begun by an instant and counts. Of the parts of one period it is one that stands, or
    /// the one that ended last.
    func lastBegun(at instant: Timestamp, before next: Int) -> Int? {
        guard let last = periods[..<next].lastIndex(where: { !$0.isReplaced(at: instant) }) else { return nil }
        guard periods[last].isPart else { return last }
        let parts = periods[..<next].indices.filter {
            $0 == last || periods[$0].isPart(of: periods[last]) && !periods[$0].isReplaced(at: instant)
        }
        return parts.first { !periods[$0].isRevoked(at: instant) }
            ?? parts.max { periods[$0].end(asSeenAt: instant) < periods[$1].end(asSeenAt: instant) }
    }

    /// The index of the renewal info in effect: a copy of the whole would cost more than what is read of it.
    func place(ofWordAt instant: Timestamp) -> Int? {
        let next = renewals.partitioningIndex { $0.asOf > instant }
        return next > 0 ? next - 1 : nil
    }

    /// The account of a period, or of the nearest one before it in its stretch. Renewal info is about the coming period:
    /// its account counts only where no period of the line that has begun by then names one.
    private func account(of place: Int?, at instant: Timestamp, _ renewal: RenewalFact?) -> UniqueIdentifier? {
        place.flatMap { origins.account(of: $0, in: periods, at: instant) }
            ?? origins.accountOfNoPeriod(at: instant) ?? (origins.isNamed(at: instant) ? nil : renewal?.appAccountToken)
    }

    /// What a phase comes from.
    func origin(of value: StatusAtInstant, at instant: Timestamp) -> PhaseOrigin {
        var origin = origins.origin(of: value, at: instant, renewal(at: instant))
        if hasReplaced { origin.replacedRenewal = replacedRenewal(after: value, at: instant) }
        return origin
    }

    /// The renewal that Apple had charged for at an instant, that was to begin where this ends, and that was replaced later.
    private func replacedRenewal(after value: StatusAtInstant, at instant: Timestamp) -> PhaseOrigin.Renewal? {
        guard value.status.access else { return nil }
        let renewal = periods.first {
            $0.start == value.accessUntil && $0.chargedAt <= instant && instant < $0.start
                && $0.replacedAt.map { instant < $0 } ?? false && !$0.isRevoked(at: instant)
        }
        guard let renewal, let product = renewal.record.productID, product != value.productID else { return nil }
        return PhaseOrigin.Renewal(productID: product, until: renewal.end(asSeenAt: instant))
    }

    /// The period that gives access at an instant.
    func covering(_ instant: Timestamp) -> Period? {
        covering(instant, before: periods.partitioningIndex { $0.start > instant }).map { periods[$0] }
    }

    /// The last period that gives access at an instant, among those that have begun.
    func covering(_ instant: Timestamp, before next: Int) -> Int? {
        var index = next - 1
        while index >= 0, latestEnd[index] > instant {
            if periods[index].contains(instant) { return firstPart(of: index, at: instant) }
            index -= 1
        }
        return nil
    }

    /// What is added to a period changes nothing about it: of its parts the first one that stands decides.
    private func firstPart(of index: Int, at instant: Timestamp) -> Int {
        guard periods[index].isPart else { return index }
        return periods[..<index].firstIndex { $0.isPart(of: periods[index]) && $0.contains(instant) } ?? index
    }

    /// The renewal that begins within a day of an instant and was charged by then: Apple renews early.
    private func chargedAhead(of instant: Timestamp, from next: Int, isRevoked: Bool = false) -> Int? {
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        var index = next
        while index < periods.count, periods[index].start <= soon {
            let period = periods[index]
            if period.record.isRenewal, period.chargedAt <= instant, period.start < period.expiresAt,
                !period.isReplaced(at: instant),
                period.isRevoked(at: instant) == isRevoked
            {
                return index
            }
            index += 1
        }
        return nil
    }

    /// The end of the paid stretch of one product, by what was charged at an instant.
    private func endOfStretch(from index: Int, at instant: Timestamp, _ implied: RenewalFact?) -> Timestamp {
        let product = periods[index].record.productID
        var end = periods[index].end(asSeenAt: instant)
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        var next = index
        while next + 1 < periods.count, periods[next + 1].start <= soon {
            next += 1
            let following = periods[next]
            if following.chargedAt > instant || following.isRevoked(at: instant) || following.isReplaced(at: instant) {
                continue
            }
            // Apple's renewals begin where the period ended, or within the day by which they may be early.
            let latestStart = following.record.isRenewal ? end.adding(days: StatusPolicy.renewsEarlyDays) : end
            guard following.start <= latestStart else { break }
            if following.record.productID != product { break }
            end = max(end, following.end(asSeenAt: instant))
        }
        if let implied, let renewsAt = implied.renewsAt, renewsAt > end,
            implied.productID == nil || implied.productID == product
        {
            return renewsAt
        }
        return end
    }

    /// Every instant from `horizon` on at which the answer may change.
    func instants(from horizon: Timestamp) -> [Timestamp] {
        var instants: [Timestamp] = []
        let graces = reported.contains { $0.fact.status == ReportedStatus.gracePeriod }
        let retries =
            graces || renewals.contains { $0.fact.inBillingRetry == true }
            || reported.contains { $0.fact.status == ReportedStatus.billingRetry }
        func addEnd(_ end: Timestamp) {
            instants.append(end)
            if retries { instants.append(end.adding(days: StatusPolicy.billingRetryDays)) }
            if graces { instants.append(policy.graceEnd(from: end, in: environment)) }
            if policy.renewalLeewaySeconds > 0 { instants.append(end.adding(seconds: policy.renewalLeewaySeconds)) }
        }
        for period in periods {
            instants.append(period.start)
            addEnd(period.end)
            if period.chargedAt < period.start {
                instants.append(max(period.chargedAt, period.start.adding(days: -StatusPolicy.renewsEarlyDays)))
                instants.append(period.chargedAt)
            }
            if let revokedAt = period.record.revokedAt { instants.append(revokedAt) }
            for reversed in period.reversed { instants += [reversed.from, reversed.until] }
        }
        for word in renewals {
            instants.append(word.asOf)
            if let graceExpiresAt = word.fact.graceExpiresAt { instants.append(graceExpiresAt) }
            if let renewsAt = word.fact.renewsAt { addEnd(renewsAt) }
        }
        for (asOf, _) in reported { instants.append(asOf) }
        return instants.filter { $0 >= horizon }
    }

    /// When the next period after an instant begins, but for renewals that were replaced before they began.
    func nextStart(after instant: Timestamp) -> Timestamp? {
        let next = periods.partitioningIndex { $0.start > instant }
        return periods[next...].first { $0.replacedAt == nil }?.start
    }

    /// When the next reported status after an instant begins to count.
    func nextReport(after instant: Timestamp) -> Timestamp? {
        let next = reported.partitioningIndex { $0.asOf > instant }
        return next < reported.count ? reported[next].asOf : nil
    }
}
