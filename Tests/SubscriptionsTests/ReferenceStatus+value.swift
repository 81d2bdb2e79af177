import AppStorePayloads
import Base
import Subscriptions

/// What the subscription is at an instant, and all there is to say of it.
extension ReferenceStatus {
    /// The renewal info that names the end of a period that was never heard of, or of the last one's extension.
    func implied(at instant: Timestamp) -> (RenewalFact, until: Timestamp)? {
        guard let renewal = renewal(at: instant), let renewsAt = renewal.renewsAt else { return nil }
        if let status = statusBeside(at: instant) {
            guard [1, 3, 4].contains(status) else { return nil }
        } else {
            let begun = periods.filter { $0.start <= instant && !isVoid($0, at: instant) }
            guard let last = last(of: begun, at: instant), last.refund(at: instant) == nil,
                renewal.signedAt >= last.latest.signedAt
            else { return nil }
        }
        for period in paid(at: instant) {
            if end(of: period, asSignedAt: renewal.asOf) >= renewsAt { return nil }
            // That is the period which it speaks of, and it was refunded.
            if period.lasts(until: renewsAt), !period.refunds.isEmpty { return nil }
        }
        return (renewal, renewsAt)
    }

    /// Whether renewal info that names an end of no known period speaks of this period and not of the next one: no record of the period is
    /// newer, it is the last one that was paid, and its last day had not begun.
    private func isExtended(_ period: Period, by renewal: RenewalFact, at instant: Timestamp) -> Bool {
        let later = paid(at: instant).drop { $0.latest != period.latest }.dropFirst()
        return renewal.signedAt >= period.latest.signedAt && later.allSatisfy { areParts($0, period) }
            && renewal.asOf < end(of: period, at: instant).adding(days: -1)
    }

    /// The last period that has begun and counts. Of parts it is one that stands, else the one that ended last.
    private func last(of begun: [Period], at instant: Timestamp) -> Period? {
        guard let last = begun.last else { return nil }
        let parts = begun.filter { $0.latest == last.latest || areParts($0, last) }
        return parts.first { $0.refund(at: instant) == nil }
            ?? parts.max { end(of: $0, at: instant) < end(of: $1, at: instant) }
    }

    /// What the subscription is at an instant; nil before the first purchase.
    func value(at instant: Timestamp) -> StatusAtInstant? {
        let begun = periods.filter { $0.start <= instant && !isVoid($0, at: instant) }
        let last = last(of: begun, at: instant)
        var covering = begun.last { instant < end(of: $0, at: instant) }
        // What is added to a period changes nothing about it.
        if let added = covering {
            covering = begun.first {
                ($0.latest == added.latest || areParts($0, added)) && instant < end(of: $0, at: instant)
            }
        }
        if let named = named(insteadOf: covering ?? last, begun, at: instant) {
            var value = value(
                of: named, at: instant, Self.paid(renewal(at: instant), isTrial: named.latest.isFreeTrial))
            value.expiresAt = named.expires
            value.periodEndsAt = named.expires
            return value
        }
        if let covering {
            var value = value(
                of: covering, at: instant, Self.paid(renewal(at: instant), isTrial: covering.latest.isFreeTrial))
            if let (renewal, until) = implied(at: instant),
                renewal.productID == nil || renewal.productID == covering.latest.productID
            {
                value.expiresAt = max(value.expiresAt, until)
                if isExtended(covering, by: renewal, at: instant) { value.periodEndsAt = until }
            }
            return value
        }
        let implied = implied(at: instant)
        if let implied, instant < implied.until {
            return value(of: implied.0, until: implied.until, at: instant, Self.paid(implied.0, isTrial: false))
        }
        let ahead = paid(at: instant).filter { $0.latest.isRenewal && instant < $0.start && $0.start < $0.expires }
        if let early = ahead.first(where: { $0.refund(at: instant) == nil }) {
            return value(of: early, at: instant, .active)
        }
        if let implied {
            return value(
                of: implied.0, until: implied.until, at: instant,
                unpaid(implied.0, since: implied.until, boughtAt: nil, isTrial: false, at: instant))
        }
        guard let last = last ?? ahead.first else { return nil }
        if last.refund(at: instant) != nil { return value(of: last, at: instant, .revoked) }
        return value(
            of: last, at: instant,
            unpaid(
                renewal(at: instant), since: end(of: last, at: instant), boughtAt: last.charged,
                isTrial: last.latest.isFreeTrial, at: instant))
    }

    /// The period that Apple's latest renewal info names beside status 1, where the records let one of another product
    /// decide that Apple must have known of.
    private func named(insteadOf deciding: Period?, _ begun: [Period], at instant: Timestamp) -> Period? {
        guard let deciding, let renewal = renewal(at: instant), statusBeside(at: instant) == 1,
            let product = renewal.productID, let until = renewal.renewsAt, instant < until,
            deciding.latest.productID != product,
            deciding.firstSigned <= renewal.asOf || deciding.start.adding(seconds: 60) <= renewal.asOf
        else { return nil }
        return begun.last {
            $0.latest.productID == product && $0.expires == until && $0.refund(at: instant) == nil
        }
    }

    /// The status within a paid period.
    private static func paid(_ renewal: RenewalFact?, isTrial: Bool) -> SubscriptionStatus {
        if renewal?.autoRenew == false { return .cancelled }
        return isTrial ? .trial : .active
    }

    /// The status after an unrevoked period that ended without a successor.
    private func unpaid(
        _ renewal: RenewalFact?, since expiry: Timestamp, boughtAt bought: Timestamp?, isTrial: Bool,
        at instant: Timestamp
    ) -> SubscriptionStatus {
        if let grace = graceEnd(renewal, since: expiry, at: instant), instant < grace { return .gracePeriod }
        if isRetried(renewal, since: expiry, at: instant), instant < expiry.adding(days: 60) { return .billingRetry }
        guard isAwaited(renewal, since: expiry, boughtAt: bought, at: instant) else { return .expired }
        let isStale = renewalInEffect(at: instant) != nil && renewal == nil
        return Self.paid(isStale ? nil : renewal, isTrial: isTrial)
    }

    /// The status beside the renewal info in effect at an instant. What only repeats has it from the one before.
    func statusBeside(at instant: Timestamp) -> Int? {
        guard var current = renewalInEffect(at: instant) else { return nil }
        while current.reportedStatus == nil,
            let before = renewalInEffect(at: current.asOf.adding(milliseconds: -1)),
            Self.said(before) == Self.said(current)
        {
            current = before
        }
        return current.reportedStatus
    }

    /// The status that Apple reported last by an instant.
    func reported(at instant: Timestamp) -> ReportedStatus? { facts.reportedStatuses.last { $0.asOf <= instant } }

    /// From when on the renewal info that is in effect at an instant says what it says: it may only repeat what the one
    /// before it said, and that the one before that.
    private func saidSince(at instant: Timestamp) -> Timestamp? {
        guard var current = renewalInEffect(at: instant) else { return nil }
        while let before = renewalInEffect(at: current.asOf.adding(milliseconds: -1)),
            Self.said(before) == Self.said(current)
        {
            current = before
        }
        return current.asOf
    }

    /// What renewal info says, whenever it was signed, and whatever it came with.
    static func said(_ renewal: RenewalFact) -> RenewalFact {
        var said = renewal
        said.signedAt = .distantPast
        said.asOf = .distantPast
        said.digest = []
        said.reportedStatus = nil
        said.isUnsigned = false
        return said
    }

    /// The status that Apple reported last, if it is newer than what renewal info says.
    private func newest(_ renewal: RenewalFact?, at instant: Timestamp) -> ReportedStatus? {
        guard let report = reported(at: instant) else { return nil }
        guard renewal != nil, let said = saidSince(at: instant) else { return report }
        return report.asOf >= said ? report : nil
    }

    /// Apple's last status, if it tells of the failure of this end: 3 or 4, and not from long before.
    private func failure(_ renewal: RenewalFact?, since expiry: Timestamp, at instant: Timestamp) -> ReportedStatus? {
        let isStale = renewalInEffect(at: instant) != nil && renewal == nil
        guard !isStale, let report = reported(at: instant), [3, 4].contains(report.status),
            report.asOf > expiry.adding(days: -1)
        else { return nil }
        return report
    }

    private func isRetried(_ renewal: RenewalFact?, since expiry: Timestamp, at instant: Timestamp) -> Bool {
        let failure = failure(renewal, since: expiry, at: instant)
        let isNewer = newest(renewal, at: instant) != nil
        switch renewal?.inBillingRetry {
        case true?:
            // Apple said since that it is over.
            return !(isNewer && reported(at: instant)?.status == 2)
        case false?:
            guard let failure, let said = saidSince(at: instant) else { return false }
            return failure.asOf > said
        case nil:
            guard let failure else { return false }
            // Left out is not "no": with a date a signed 4 is enough, whichever of them came first.
            return isNewer || failure.status == 4 && renewal?.graceExpiresAt != nil
        }
    }

    /// When grace ends; nil where there is none.
    private func graceEnd(_ renewal: RenewalFact?, since expiry: Timestamp, at instant: Timestamp) -> Timestamp? {
        guard isRetried(renewal, since: expiry, at: instant), newest(renewal, at: instant)?.status != 3 else {
            return nil
        }
        if let date = renewal?.graceExpiresAt { return date }
        // "In grace", and no date: the operator's. A report from before the period ended spoke of another failure, and
        // renewal info that is newer and speaks of no retry ends it.
        guard failure(renewal, since: expiry, at: instant)?.status == 4 else { return nil }
        return expiry.adding(days: 16)
    }

    /// Whether a renewal may only be late.
    private func isAwaited(
        _ renewal: RenewalFact?, since expiry: Timestamp, boughtAt bought: Timestamp?, at instant: Timestamp
    ) -> Bool {
        guard instant < expiry.adding(seconds: leeway), renewal?.expirationIntent == nil else { return false }
        // After the end: any word but a repetition.
        if let report = reported(at: instant), report.asOf > expiry { return false }
        if let word = renewalInEffect(at: instant), word.asOf > expiry {
            if word.reportedStatus != nil { return false }
            if let said = saidSince(at: instant), said > expiry { return false }
        }
        // Up to the end: the newest word since the purchase, all of it where two parts are of one instant.
        var words: [(asOf: Timestamp, excludes: Bool)] = []
        if let word = renewalInEffect(at: expiry), !isStale(word, at: instant) {
            words.append((word.asOf, word.autoRenew == false || [2, 3, 5].contains(word.reportedStatus ?? 1)))
        }
        if let report = reported(at: expiry), bought.map({ report.asOf >= $0 }) ?? true {
            words.append((report.asOf, [2, 3, 5].contains(report.status)))
        }
        let newest = words.map(\.asOf).max()
        return !words.contains { $0.asOf == newest && $0.excludes }
    }

    // MARK: - All there is to say

    private func value(of period: Period, at instant: Timestamp, _ status: SubscriptionStatus) -> StatusAtInstant {
        let end = end(of: period, at: instant)
        return completed(
            StatusAtInstant(
                status: status, basis: .records, productID: period.latest.productID,
                transactionID: period.latest.transactionID,
                // While a renewal is waited for nothing more is paid.
                expiresAt: status.appleStatus == 1 && (instant < end || instant < period.start)
                    ? endOfStretch(from: period, at: instant) : end, periodEndsAt: end,
                inTrial: status.appleStatus == 1 && period.latest.isFreeTrial,
                appAccountToken: account(of: period, at: instant)),
            since: end, at: instant)
    }

    private func value(
        of renewal: RenewalFact, until end: Timestamp, at instant: Timestamp, _ status: SubscriptionStatus
    ) -> StatusAtInstant {
        let last = periods.last { $0.start <= instant && !isVoid($0, at: instant) }
        return completed(
            StatusAtInstant(
                status: status, basis: .renewalInfo, productID: renewal.productID, expiresAt: end, periodEndsAt: end,
                appAccountToken: last.map { account(of: $0, at: instant) } ?? renewal.appAccountToken),
            since: end, at: instant)
    }

    private func completed(_ bare: StatusAtInstant, since end: Timestamp, at instant: Timestamp) -> StatusAtInstant {
        var value = bare
        let renewal = renewal(at: instant)
        let isStale = renewalInEffect(at: instant) != nil && renewal == nil
        if value.status == .gracePeriod { value.graceEndsAt = graceEnd(renewal, since: end, at: instant) }
        // A period bought since was charged by auto-renew.
        value.willRenew = isStale ? true : renewal?.autoRenew
        value.renewalProductID = isStale ? value.productID : renewal?.renewalProductID
        value.expirationIntent = renewal?.expirationIntent
        value.priceIncreasePending =
            value.status.access && renewal?.priceIncreasePending == true && renewal?.autoRenew != false
            && renewal?.expirationIntent != 3
        return value
    }

    /// The account of the period, else of the last one before it that names one, else of the renewal info.
    private func account(of period: Period, at instant: Timestamp) -> UniqueIdentifier? {
        let index = periods.lastIndex { $0.latest == period.latest } ?? 0
        return period.latest.appAccountToken
            ?? periods[...index].filter { void($0) == nil }.compactMap(\.latest.appAccountToken).last
            ?? renewalInEffect(at: instant)?.appAccountToken
    }
}
