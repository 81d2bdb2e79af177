import AppStorePayloads
import Base
import Subscriptions

/// What Apple reported and the records do not explain, the way it is told: one instant at a time.
extension ReferenceStatus {
    /// The status by the records, or Apple's number where a report that they do not explain holds.
    enum Answer: Equatable {
        case records(StatusAtInstant?)
        case reported(Int)
    }

    func answer(at instant: Timestamp) -> Answer {
        // Any later report ends the one before, so only the last one can hold.
        guard let report = reported(at: instant), isUnexplained(report) else { return .records(value(at: instant)) }
        if let end = end(of: report), end <= instant { return .records(value(at: instant)) }
        let limit = self.limit(of: report)
        if instant < limit || limit == .distantFuture { return .reported(report.status) }
        // Both give no access: Apple's number is the reason.
        if [2, 5].contains(report.status), value(at: instant)?.status.access != true {
            return .reported(report.status)
        }
        return .records(value(at: instant))
    }

    /// Whether the records give another status at its signing, by all that is known now and by what was known then.
    private func isUnexplained(_ report: ReportedStatus) -> Bool {
        guard reported(at: report.asOf) == report else { return false }
        let then = ReferenceStatus(facts.known(at: report.signedAt), leeway: leeway)
        for known in [self, then] {
            let number = known.value(at: report.signedAt)?.status.appleStatus
            if number == report.status || number == nil && [2, 5].contains(report.status) { return false }
        }
        if report.status == 5, then.isAboutRefundedEarlyRenewal(report) { return false }
        // A grace beside "no retry" is left over.
        return !(report.status == 4 && cameWith(report).renewal?.inBillingRetry == false)
    }

    /// 5 may speak of a renewal that was charged ahead and refunded, while the period before it runs on.
    private func isAboutRefundedEarlyRenewal(_ report: ReportedStatus) -> Bool {
        guard
            let running = periods.last(where: {
                $0.start <= report.signedAt && !isVoid($0, at: report.signedAt)
                    && report.signedAt < end(of: $0, at: report.signedAt)
            })
        else { return false }
        return periods.contains {
            $0.latest.isRenewal && $0.latest.revokedAt != nil && void($0) == nil
                && $0.start >= running.expires.adding(days: -1)
        }
    }

    /// The parts of the notification that reported it.
    private func cameWith(_ report: ReportedStatus) -> (renewal: RenewalFact?, transaction: TransactionFact?) {
        let renewal = facts.renewals.last {
            !$0.isUnsigned && report.asOf <= $0.asOf && $0.asOf <= report.signedAt && $0.reportedStatus == report.status
        }
        // An old period's end says nothing about now.
        let newest = ReferenceStatus(facts.known(at: report.signedAt)).counting.last?.latest
        let transaction = facts.transactions.last {
            newest?.webOrderLineItemID == $0.webOrderLineItemID
                && (newest?.webOrderLineItemID != nil || newest?.transactionID == $0.transactionID)
                && !$0.isUnsigned && report.asOf <= $0.asOf && $0.asOf <= report.signedAt && $0.expiresAt != nil
                && $0.kind == .autoRenewableSubscription && $0.purchasedAt != nil
        }
        return (renewal, transaction)
    }

    private func limit(of report: ReportedStatus) -> Timestamp {
        let then = ReferenceStatus(facts.known(at: report.signedAt))
        let parts = cameWith(report)
        let known = then.counting.map { then.wholeEnd(of: $0) }.max()
        let expiry = parts.renewal?.renewsAt ?? parts.transaction?.expiresAt ?? known
        let dates: [Timestamp?] =
            switch report.status {
            case 3: [expiry?.adding(days: 60)]
            case 4: [parts.renewal?.graceExpiresAt, expiry?.adding(days: 16)]
            case 1: [parts.renewal?.renewsAt, parts.transaction?.expiresAt]
            default: [parts.renewal?.renewsAt, parts.transaction?.expiresAt, known, .distantFuture]
            }
        return dates.compactMap(\.self).first { $0 > report.signedAt } ?? report.signedAt.adding(days: 1)
    }

    /// When something ends a report; nil as long as nothing does.
    private func end(of report: ReportedStatus) -> Timestamp? {
        let place = facts.reportedStatuses.firstIndex(of: report) ?? 0
        let later = facts.reportedStatuses[(place + 1)...].map(\.asOf).filter { $0 > report.asOf }.min()
        // A later period is another time, which the records tell of.
        let next = counting.first { $0.start > report.signedAt }?.start
        return [later, next, firstNews(after: report)].compactMap(\.self).min()
    }

    /// The end of a period by all that is known, refunds and replacements included.
    private func wholeEnd(of period: Period) -> Timestamp {
        min(end(of: period, at: .distantFuture), period.latest.revokedAt ?? .distantFuture)
    }

    /// When Apple first signed something new after a report, or the date of its own that this has.
    private func firstNews(after report: ReportedStatus) -> Timestamp? {
        let newest = ReferenceStatus(facts.known(at: report.signedAt)).counting.last?.start ?? .distantPast
        var instants: [Timestamp] = []
        let transactions = facts.transactions.filter { !$0.isUnsigned }
        for (place, fact) in transactions.enumerated() where fact.asOf > report.signedAt {
            let before = transactions[..<place]
            guard !before.contains(where: { Self.said($0) == Self.said(fact) }) else { continue }
            instants.append(fact.asOf)
            guard let bought = fact.purchasedAt, bought >= newest else { continue }
            if let refunded = fact.revokedAt, refunded > report.signedAt { instants.append(refunded) }
        }
        let renewals = facts.renewals.filter { !$0.isUnsigned }
        for (place, fact) in renewals.enumerated() where fact.asOf > report.signedAt {
            if !renewals[..<place].contains(where: { Self.said($0) == Self.said(fact) }) { instants.append(fact.asOf) }
        }
        return instants.min()
    }

    private static func said(_ record: TransactionFact) -> TransactionFact {
        var said = record
        said.signedAt = .distantPast
        said.asOf = .distantPast
        said.digest = []
        return said
    }
}
