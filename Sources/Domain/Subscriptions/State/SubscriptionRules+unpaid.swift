import AppStorePayloads
import Base

/// The status after the end of what was paid for.
extension SubscriptionRules {
    /// The status from an end on: as before while the renewal is awaited, in grace, being retried, or over.
    /// - Parameters:
    ///   - bought: when the period that ended was bought.
    ///   - isFreeTrial: whether that period is a free trial.
    func statusAfter(
        _ expiry: Timestamp, boughtAt bought: Timestamp = .distantPast, isFreeTrial: Bool = false, _ base: Base
    ) -> (SubscriptionStatus, graceEndsAt: Timestamp?) {
        let unpaid = unpaid(since: expiry, base)
        guard unpaid.0 == .expired, isAwaited(since: expiry, boughtAt: bought, base) else { return unpaid }
        return (base.paidStatus(isFreeTrial: isFreeTrial), nil)
    }

    /// Whether a renewal is due, has not arrived, and may still arrive. A word is renewal info or a reported status; a
    /// transaction is none, for a device signs the one that ended anew:
    /// - at or before the end the newest word since the purchase decides: the renewal is not waited for where it says that
    ///   auto-renew is off or the status 2, 3 or 5;
    /// - after the end any word uses the waiting up, but renewal info that only repeats.
    private func isAwaited(
        since expiry: Timestamp, boughtAt bought: Timestamp, _ base: Base
    ) -> Bool {
        let instant = base.instant
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

    /// The status of a subscription whose period has ended: in grace, being retried, or over.
    private func unpaid(
        since expiry: Timestamp, _ base: Base
    ) -> (SubscriptionStatus, graceEndsAt: Timestamp?) {
        let (instant, renewal) = (base.instant, base.current)
        let reported = reportedStatus(at: instant)
        let said = renewal == nil ? nil : place(ofWordAt: instant).map { renewals[$0].since }
        // What only repeats leaves the status that was reported after it was first said the latest word.
        let isLatest = reported.map { report in said.map { report.asOf >= $0 } ?? true } ?? false
        let isToldOfRetry = reported.map { (report: ReportedStatus) -> Bool in
            // Reported before this period was about to end, it is about an earlier failure.
            guard !base.isStale, report.asOf > expiry.adding(days: -StatusPolicy.renewsEarlyDays) else { return false }
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
}

extension RenewalFact {
    /// Whether it gives a reason for the end that this release knows.
    fileprivate var isOver: Bool { expirationIntent.map { (1...5).contains($0) } ?? false }
}

extension ReportedStatus {
    /// The statuses after which no renewal is to be expected.
    fileprivate static let withoutRenewal: Set<Int> = [expired, billingRetry, revoked]
}
