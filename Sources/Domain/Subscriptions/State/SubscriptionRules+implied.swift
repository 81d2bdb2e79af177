import AppStorePayloads
import Base

/// The period that renewal info names, and whose transaction never arrived.
extension SubscriptionRules {
    /// The end of the period that never arrived and that renewal info names at an instant.
    func impliedEnd(at instant: Timestamp) -> Timestamp? {
        guard let renewal = renewal(at: instant), !isStale(renewal, at: instant), impliesPeriod(renewal, at: instant)
        else { return nil }
        return renewal.renewsAt
    }

    /// Whether the subscription has moved on since this was signed: a period was bought after it, and this is not
    /// about that period.
    func isStale(_ renewal: RenewalFact, at instant: Timestamp) -> Bool {
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

    func impliesPeriod(_ renewal: RenewalFact, at instant: Timestamp, before next: Int) -> Bool {
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
    func extends(_ index: Int, by implied: RenewalFact, at instant: Timestamp) -> Bool {
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
}
