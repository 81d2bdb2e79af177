import AppStorePayloads
package import Base

extension PurchaseState {
    /// The terms of periods that were bought here and began, by their items.
    var recurringTerms: [String: RecurringTerms] {
        let counted = CountedPeriod.all(of: rules)
        let phases = subscription?.phases ?? []
        var terms: [String: RecurringTerms] = [:]
        for place in counted.indices {
            let period = counted[place]
            let next = counted.next(after: place)
            var found = RecurringTerms()
            found.partOf = period.part
            found.isRenewalOff = period.isTrial && phases.isRenewalOff(before: period.trialEndsAt)
            let stretches = phases.times(of: period, among: counted, next: next ?? .distantFuture).flatMap { time in
                // Where a refund ends it, what Apple says of the end is not the reason.
                period.standing(from: time.from, until: time.until).map { stretch in
                    RecurringTerms.Stretch(
                        from: stretch.from, until: stretch.until,
                        endReason: stretch.until == time.until ? time.endReason : nil)
                }
            }
            var further = stretches[...]
            if let first = stretches.first, first.from == period.startsAt {
                found.endReason = first.endReason
                if first.until != period.expiresAt { found.countsUntil = first.until }
                further = stretches.dropFirst()
            } else {
                found.countsUntil = period.startsAt
            }
            found.stretches = Array(further)
            terms[period.item] = found
        }
        return terms
    }

    /// Whether its phases reach back to before all periods that a batch may change in the books.
    ///
    /// Phases before its horizon are not derived. What a period is to the one before it follows from the phase before it, and how long it
    /// counts from those behind it: a batch changes the latter of each period that nothing followed by the earliest instant that it concerns.
    /// - Parameter since: that instant.
    package func reachesBeginnings(since: Timestamp) -> Bool {
        guard let first = subscription?.phases.first?.startsAt else { return true }
        let counted = CountedPeriod.all(of: rules)
        return counted.indices.allSatisfy { place in
            counted[place].startsAt > first || counted.next(after: place).map { $0 <= since } ?? false
        }
    }
}

extension PurchaseFacts {
    /// Whether periods may count otherwise than from their beginnings to their ends, as Apple's words and records have it.
    ///
    /// False for nearly all purchases: those that renew one product, without further records of Apple's.
    var maySayHowPeriodsCount: Bool {
        guard let product = transactions.first?.productID ?? renewals.first?.productID else { return true }
        return !rarities.isEmpty || reportedStatuses.contains { $0.status != 1 }
            || transactions.contains { $0.revokedAt != nil || $0.isUpgraded || $0.productID != product }
            || renewals.contains {
                $0.expirationIntent != nil || $0.inBillingRetry == true || $0.graceExpiresAt != nil
                    || $0.productID.map { $0 != product } ?? false
            }
            || transactions.contains(where: \.isFreeTrial) && renewals.contains { $0.autoRenew == false }
    }
}

/// A period that was bought here and began, with the instants at which it stops counting.
private struct CountedPeriod {
    let item: String
    let transactionID: String
    let isTrial: Bool
    let startsAt: Timestamp
    /// Its end by its own record.
    let expiresAt: Timestamp
    /// Its end by its own record, or the beginning of the purchase that took its place. Refunds do not count.
    let endsAt: Timestamp
    let part: String?
    /// When all of it was refunded, or taken back without money, and until when; in order.
    let refunds: [(from: Timestamp, until: Timestamp?)]

    private init(_ period: Period, part: String?) {
        (item, transactionID) = (period.key, period.record.transactionID)
        (isTrial, startsAt, expiresAt) = (period.record.isFreeTrial, period.start, period.expiresAt)
        endsAt = period.endBeforeRefund(asSeenAt: .distantFuture)
        self.part = part
        var (refunds, standing) = ([(from: Timestamp, until: Timestamp?)](), Timestamp?.none)
        for record in period.records {
            if record.isWhollyRevoked {
                standing = standing ?? record.revokedAt
            } else if let from = standing {
                if from < record.signedAt { refunds.append((from, record.signedAt)) }
                standing = nil
            }
        }
        if let standing { refunds.append((standing, nil)) }
        self.refunds = refunds
    }

    static func all(of rules: SubscriptionRules) -> [CountedPeriod] {
        rules.periods.filter { $0.record.isBoughtHere && $0.replacedAt == nil }.map { period in
            CountedPeriod(period, part: period.isPart ? rules.periods.first { $0.isPart(of: period) }?.key : nil)
        }
    }

    /// Its end, by the refund that stands too.
    var trialEndsAt: Timestamp {
        guard let last = refunds.last, last.until == nil else { return endsAt }
        return max(startsAt, min(endsAt, last.from))
    }

    /// The parts of a time in which it is not refunded.
    func standing(from start: Timestamp, until end: Timestamp) -> [(from: Timestamp, until: Timestamp)] {
        var (stretches, start) = ([(from: Timestamp, until: Timestamp)](), start)
        for refund in refunds where start < end {
            if start < refund.from { stretches.append((start, min(refund.from, end))) }
            start = max(start, refund.until ?? end)
        }
        if start < end { stretches.append((start, end)) }
        return stretches
    }
}

extension [CountedPeriod] {
    /// When the next period begins that is no part of the one at a place.
    fileprivate func next(after place: Int) -> Timestamp? {
        let part = self[place].part
        return self[(place + 1)...].first { $0.part == nil || $0.part != part }?.startsAt
    }
}

extension TransactionFact {
    /// Whether all of it is refunded, or taken back without money. A part that Apple does not state is not all.
    fileprivate var isWhollyRevoked: Bool {
        guard revokedAt != nil else { return false }
        return switch revocationType {
        case .familyRevoke?, .assignmentRevoke?, .refundFull?: true
        case .refundProrated?: revocationPercentage.map { $0 >= OneTimePurchase.whole } ?? false
        default: (revocationPercentage ?? OneTimePurchase.whole) >= OneTimePurchase.whole
        }
    }
}

extension [Phase] {
    fileprivate typealias Time = (from: Timestamp, until: Timestamp, endReason: RecurringTerms.EndReason?)

    /// When a period counts: until its end, and in the grace that follows. Apple signs the word of grace some time after the end: what is
    /// between is grace, too, except where Apple stated billing retry.
    /// - Parameter next: when the next period begins.
    fileprivate func times(of period: CountedPeriod, among counted: [CountedPeriod], next: Timestamp) -> [Time] {
        guard period.startsAt < period.endsAt else { return [] }
        var times: [Time] = [(period.startsAt, period.endsAt, nil)]
        guard period.endsAt < next, let first = lastIndex(where: { $0.startsAt <= period.endsAt }) else { return times }
        var isRetried = false
        for place in first..<count {
            let (phase, last) = (self[place], times[times.count - 1])
            if phase.startsAt >= next { break }
            isRetried = isRetried || phase.value.status == .billingRetry
            guard phase.value.status == .gracePeriod, let id = phase.value.transactionID,
                counted.contains(where: {
                    $0.transactionID == id && ($0.item == period.item || period.part != nil && $0.part == period.part)
                })
            else { continue }
            let end = Swift.min(place + 1 < count ? self[place + 1].startsAt : phase.value.accessUntil, next)
            guard end > last.until else { continue }
            if isRetried {
                times.append((Swift.max(phase.startsAt, last.until), end, nil))
            } else {
                times[times.count - 1].until = end
            }
            isRetried = false
        }
        for place in times.indices {
            let end = times[place].until
            times[place].endReason =
                reason(from: end, until: next) ?? (end > period.endsAt && end < next ? .billing : nil)
        }
        return times
    }

    /// What Apple said first about an end.
    private func reason(from end: Timestamp, until next: Timestamp) -> RecurringTerms.EndReason? {
        guard end < next, let first = lastIndex(where: { $0.startsAt <= end }) else { return nil }
        for phase in self[first...] {
            if phase.startsAt >= next { break }
            if let intent = phase.value.expirationIntent { return .init(expirationIntent: intent) }
            if phase.value.status == .billingRetry { return .billing }
        }
        return nil
    }

    /// Whether auto-renew was off a moment before an instant: what comes with a payment is switched on again.
    fileprivate func isRenewalOff(before instant: Timestamp) -> Bool {
        last { $0.startsAt < instant }?.value.willRenew == false
    }
}
