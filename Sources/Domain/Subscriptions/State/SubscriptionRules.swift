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
    private let renewals: [RenewalWord]
    /// By the instant from which on each counts: the latest-signed one that counts by then.
    private let reported: [(asOf: Timestamp, fact: ReportedStatus)]
    /// For each period, the latest end and the latest expiry of it and all before it: where a search may stop.
    private let latestEnd: [Timestamp]
    private let latestExpiry: [Timestamp]
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

    /// The end of the period that never arrived and that renewal info names at an instant.
    func impliedEnd(at instant: Timestamp) -> Timestamp? {
        guard let renewal = renewal(at: instant), !isStale(renewal, at: instant), impliesPeriod(renewal, at: instant)
        else { return nil }
        return renewal.renewsAt
    }

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
            var (status, grace) = unpaid(since: renewsAt, at: instant, current, isStale)
            if status == .expired, isAwaited(since: renewsAt, at: instant, base) {
                status = base.paidStatus()
            }
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
        var (status, grace) = unpaid(since: end, at: instant, current, isStale)
        if status == .expired, isAwaited(since: end, boughtAt: periods[last].chargedAt, at: instant, base) {
            status = base.paidStatus(isFreeTrial: periods[last].record.isFreeTrial)
        }
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

    /// Whether a renewal is due, has not arrived, and may still arrive. A word is renewal info or a reported status; a
    /// transaction is none, for a device signs the one that ended anew:
    /// - at or before the end the newest word since the purchase decides: nobody waits where it says that auto-renew is
    ///   off or the status 2, 3 or 5;
    /// - after the end any word uses the waiting up, but renewal info that only repeats.
    private func isAwaited(
        since expiry: Timestamp, boughtAt bought: Timestamp = .distantPast, at instant: Timestamp, _ base: Base
    ) -> Bool {
        guard policy.renewalLeewaySeconds > 0, instant < expiry.adding(seconds: policy.renewalLeewaySeconds),
            base.current?.isOver != true, !isAnyWord(after: expiry, by: instant)
        else { return false }
        let report = reportedStatus(at: expiry).flatMap { $0.asOf >= bought ? $0 : nil }
        let reportExcludes = report.map { ReportedStatus.withoutRenewal.contains($0.status) } ?? false
        guard let renewal = renewal(at: expiry), !isStale(renewal, at: instant) else { return !reportExcludes }
        if let report, report.asOf > renewal.asOf { return !reportExcludes }
        let status = place(ofWordAt: expiry).flatMap { renewals[$0].ownStatus }
        return renewal.autoRenew != false && !(status.map { ReportedStatus.withoutRenewal.contains($0) } ?? false)
            && !(report?.asOf == renewal.asOf && reportExcludes)
    }

    /// Whether Apple reported a status since, or its renewal info says something else than before.
    private func isAnyWord(after expiry: Timestamp, by instant: Timestamp) -> Bool {
        if let report = reportedStatus(at: instant), report.asOf > expiry { return true }
        guard let place = place(ofWordAt: instant), renewals[place].asOf > expiry else { return false }
        return renewals[place].ownStatus != nil || renewals[place].since > expiry
    }

    /// The index of the renewal info in effect: a copy of the whole would cost more than what is read of it.
    private func place(ofWordAt instant: Timestamp) -> Int? {
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

    /// Whether the subscription has moved on since this was signed: a period was bought after it, and this is not
    /// about that period.
    private func isStale(_ renewal: RenewalFact, at instant: Timestamp) -> Bool {
        var index = periods.partitioningIndex { $0.start > renewal.asOf }
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        while index < periods.count, periods[index].start <= soon {
            let period = periods[index]
            if period.chargedAt <= instant, period.firstSignedAt > renewal.asOf, period.expiresAt != renewal.renewsAt,
                !period.isReplaced(at: instant)
            {
                return true
            }
            index += 1
        }
        return false
    }

    /// Whether this names the end of a period whose transaction never arrived: beyond the end of all
    /// known, charged ones.
    ///
    /// Apple's status beside it distinguishes such a period from one that a refund took away. Without a status it is
    /// an extension: only a period that stands can have one, and its own record would state it if that were newer.
    func impliesPeriod(_ renewal: RenewalFact, at instant: Timestamp) -> Bool {
        impliesPeriod(renewal, at: instant, before: periods.partitioningIndex { $0.start > instant })
    }

    private func impliesPeriod(_ renewal: RenewalFact, at instant: Timestamp, before next: Int) -> Bool {
        guard let renewsAt = renewal.renewsAt else { return false }
        switch renewal.reportedStatus {
        case ReportedStatus.active, ReportedStatus.billingRetry, ReportedStatus.gracePeriod: break
        case .some: return false
        case nil:
            guard let last = lastBegun(at: instant, before: next), !periods[last].isRevoked(at: instant),
                renewal.signedAt >= periods[last].record.signedAt
            else { return false }
        }
        var index = next - 1
        while index >= 0, latestExpiry[index] >= renewsAt {
            if isKnown(periods[index], to: renewal, until: renewsAt, at: instant) { return false }
            index -= 1
        }
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        index = next
        while index < periods.count, periods[index].start <= soon {
            if periods[index].chargedAt <= instant, isKnown(periods[index], to: renewal, until: renewsAt, at: instant) {
                return false
            }
            index += 1
        }
        return true
    }

    /// Whether renewal info that names an end beyond all that is known moves the end of the period that runs. Within its
    /// last day it speaks of the next one, which Apple has charged for ahead.
    private func extends(_ index: Int, by implied: RenewalFact, at instant: Timestamp) -> Bool {
        let period = periods[index]
        guard implied.productID == nil || implied.productID == period.record.productID,
            implied.signedAt >= period.record.signedAt,
            implied.asOf < period.end(asSeenAt: instant).adding(days: -StatusPolicy.renewsEarlyDays)
        else { return false }
        let soon = instant.adding(days: StatusPolicy.renewsEarlyDays)
        return periods[(index + 1)...].prefix { $0.start <= soon }.allSatisfy {
            $0.chargedAt > instant || $0.isReplaced(at: instant) || $0.isPart(of: period)
        }
    }

    /// Whether a period lasts until the date that renewal info names, or did before the refund that took it away: one that
    /// was charged early may be refunded while the period before it runs on.
    private func isKnown(
        _ period: Period, to renewal: RenewalFact, until renewsAt: Timestamp, at instant: Timestamp
    ) -> Bool {
        guard !period.isReplaced(at: instant) else { return false }
        return period.end(asSignedAt: renewal.asOf) >= renewsAt || (period.wasRevoked && period.lasts(until: renewsAt))
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

    /// The status of a subscription whose period has ended: in grace, being retried, or over.
    private func unpaid(
        since expiry: Timestamp, at instant: Timestamp, _ renewal: RenewalFact?, _ isStale: Bool
    ) -> (SubscriptionStatus, graceEndsAt: Timestamp?) {
        let reported = reportedStatus(at: instant)
        let said = renewal == nil ? nil : place(ofWordAt: instant).map { renewals[$0].since }
        // What only repeats leaves the status that was reported after it was first said the latest word.
        let isLatest = reported.map { report in said.map { report.asOf >= $0 } ?? true } ?? false
        let isToldOfRetry = reported.map { (report: ReportedStatus) -> Bool in
            // Reported before this period was about to end, it is about an earlier failure.
            guard !isStale, report.asOf > expiry.adding(days: -StatusPolicy.renewsEarlyDays) else { return false }
            // That the flag is left out does not say "no"; where it says so, only a later status says otherwise.
            if renewal?.inBillingRetry == false, let said, report.asOf <= said { return false }
            // Newer renewal info ends the retry unless it speaks of one.
            let isGoingOn = isLatest || renewal?.inBillingRetry == true
            return switch report.status {
            case ReportedStatus.gracePeriod: isGoingOn || renewal?.graceExpiresAt != nil
            case ReportedStatus.billingRetry: isGoingOn
            default: false
            }
        }
        // Throughout grace Apple retries. A date beside "not retrying" is left over, and so is one that Apple's status
        // contradicts.
        let isRetried =
            isToldOfRetry == true
            || renewal?.inBillingRetry == true && !(isLatest && reported?.status == ReportedStatus.expired)
        let graceIsOver = isLatest && reported?.status == ReportedStatus.billingRetry
        var grace = isRetried && !graceIsOver ? renewal?.graceExpiresAt : nil
        if renewal?.graceExpiresAt == nil, isToldOfRetry == true, reported?.status == ReportedStatus.gracePeriod {
            grace = policy.graceEnd(from: expiry, in: environment)
        }
        if let grace, instant < grace { return (.gracePeriod, grace) }
        if isRetried, instant < expiry.adding(days: StatusPolicy.billingRetryDays) { return (.billingRetry, nil) }
        return (.expired, nil)
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

extension RenewalFact {
    /// Whether it gives a reason for the end that this release knows.
    fileprivate var isOver: Bool { expirationIntent.map { (1...5).contains($0) } ?? false }
}

extension ReportedStatus {
    /// The statuses after which no renewal is to be expected.
    fileprivate static let withoutRenewal: Set<Int> = [expired, billingRetry, revoked]
}
