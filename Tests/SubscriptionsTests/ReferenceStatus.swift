import AppStorePayloads
import Base
import Subscriptions

/// The rules once more, the way they are told: one instant at a time, looking through all facts for every question.
///
/// It is slow and knows no phases, so that a mistake in what makes the real rules fast shows as a difference. What a
/// reported status decides that nothing explains is told in an extension, which looks at this from outside.
struct ReferenceStatus {
    let facts: PurchaseFacts
    let periods: [Period]
    /// For how many seconds a renewal is waited for.
    let leeway: Int64
    /// Purchases that only renewal info tells of, in the order of its signing.
    private(set) var unheard: [Unheard] = []

    /// A purchase whose transaction never came, though Apple named its product and its end when it signed renewal info.
    struct Unheard {
        let from: Timestamp
        let until: Timestamp
        let product: String
    }

    /// A paid period: all records of one line item. The latest-signed one speaks for them.
    struct Period {
        /// In the order of signing.
        let records: [TransactionFact]
        let latest: TransactionFact
        let start: Timestamp
        let expires: Timestamp

        /// Nil for what is no subscription's, or lacks a date.
        init?(_ records: [TransactionFact]) {
            guard let latest = records.last, latest.kind == .autoRenewableSubscription,
                let bought = latest.purchasedAt, let expires = latest.expiresAt
            else { return nil }
            self.records = records
            self.latest = latest
            self.expires = expires
            // Apple's clocks differ: what was bought some seconds after it was signed was bought when it was signed. A
            // renewal may well be signed ahead.
            let signed = records.map(\.asOf).min() ?? latest.asOf
            let isClockDifference = !latest.isRenewal && bought > signed && bought <= signed.adding(seconds: 60)
            start = isClockDifference ? signed : bought
        }

        /// Whether one of its transactions says why it is beside others.
        var saysWhy: Bool { records.contains { $0.additionalReason != nil } }

        var firstSigned: Timestamp { records.map(\.asOf).min() ?? start }
        /// When Apple took the money, as far as anybody knew: ahead of the start, or with it.
        var charged: Timestamp { min(start, firstSigned) }

        /// Whether any of its records gives it this end: one that was moved since counts as well.
        func lasts(until date: Timestamp) -> Bool { records.contains { $0.expiresAt == date } }

        /// The refunds of the period, each told by records that follow one another: the earliest date counts, and
        /// a record without one reverses it.
        var refunds: [(date: Timestamp, told: Timestamp, reversed: Timestamp?)] {
            var refunds: [(date: Timestamp, told: Timestamp, reversed: Timestamp?)] = []
            for (index, record) in records.enumerated() {
                if let date = record.revokedAt {
                    if index > 0, records[index - 1].revokedAt != nil, let refund = refunds.popLast() {
                        refunds.append((min(refund.date, date), refund.told, nil))
                    } else {
                        refunds.append((date, record.asOf, nil))
                    }
                } else if index > 0, records[index - 1].revokedAt != nil, let refund = refunds.popLast() {
                    refunds.append((refund.date, refund.told, record.asOf))
                }
            }
            return refunds.filter { refund in refund.reversed.map { refund.date < $0 } ?? true }
        }

        /// The date of the refund that stands at an instant; nil where none does.
        func refund(at instant: Timestamp) -> Timestamp? {
            refunds.last { refund in refund.date <= instant && refund.reversed.map { instant < $0 } ?? true }?.date
        }

        /// Whether it began within the other period's last day, as renewals do that Apple charges early, and was refunded:
        /// it takes nothing from the other one.
        func isRefundedEarlyRenewal(of other: Period) -> Bool {
            latest.isRenewal && start >= other.expires.adding(days: -1) && !refunds.isEmpty
        }
    }

    init(_ facts: PurchaseFacts, leeway: Int64 = 0) {
        self.facts = facts
        self.leeway = leeway
        var records: [String: [TransactionFact]] = [:]
        for record in facts.transactions {
            let key = record.webOrderLineItemID.map { "item \($0)" } ?? "transaction \(record.transactionID)"
            records[key, default: []].append(record)
        }
        // Seats may be added under one line item: each purchase, with its copies, is a part of its own.
        for (key, all) in records where all.contains(where: { $0.additionalReason != nil }) {
            records[key] = nil
            for record in all {
                let date = all.last { $0.transactionID == record.transactionID }?.purchasedAt
                records["\(key) bought \(date.map { "\($0)" } ?? "never")", default: []].append(record)
            }
        }
        periods = records.values.compactMap { Period($0) }.sorted {
            ($0.start, $0.expires, $0.latest.transactionID, $0.latest.webOrderLineItemID ?? "")
                < ($1.start, $1.expires, $1.latest.transactionID, $1.latest.webOrderLineItemID ?? "")
        }
        for renewal in facts.renewals.sorted(by: { $0.asOf < $1.asOf }) {
            if let unheard = newlyNamed(by: renewal) { self.unheard.append(unheard) }
        }
    }

    // MARK: - The order of buying

    /// Whether two are parts of one period: of one product, to one end, and a record says why there are two.
    func areParts(_ one: Period, _ other: Period) -> Bool {
        func isSame(_ period: Period) -> Bool {
            period.latest.productID == one.latest.productID && period.expires == one.expires
        }
        let parts = periods.filter(isSame)
        return one.latest != other.latest && isSame(other) && parts.contains(where: \.saysWhy)
    }

    /// From when on a renewal is void: it had been charged, or must have been, when another plan was bought that was to run
    /// when it would have begun.
    func void(_ renewal: Period) -> Timestamp? {
        let unknown = unheard.filter {
            renewal.firstSigned <= $0.from && $0.from < renewal.start && renewal.start < $0.until
                && renewal.latest.productID != $0.product
        }.map(\.from)
        return (plansBought(after: renewal).map(\.start) + unknown).min()
    }

    private func plansBought(after renewal: Period) -> [Period] {
        guard renewal.latest.isRenewal, let product = renewal.latest.productID else { return [] }
        let bought = periods.filter { plan in
            plan.latest.productID.map { $0 != product } ?? false && plan.charged == plan.start
                && plan.start >= renewal.start.adding(days: -1) && plan.start < renewal.start
                && renewal.start < plan.expires
        }
        return bought.filter { plan in
            if renewal.records.contains(where: { $0.asOf < plan.start }) { return true }
            guard renewal.latest.isUpgraded else { return false }
            let followsAnother = periods.contains {
                $0.start < plan.start && abs(renewal.start.milliseconds(since: $0.expires)) <= 60_000
            }
            let others = periods.filter { renewal.start < $0.start && $0.start < renewal.expires }
            return followsAnother || others.allSatisfy { $0.start >= plan.expires.adding(days: -1) }
        }
    }

    /// The periods that begin.
    var counting: [Period] { periods.filter { void($0) == nil } }

    func isVoid(_ period: Period, at instant: Timestamp) -> Bool { void(period).map { $0 <= instant } ?? false }

    /// What renewal info says beside status 1 of a purchase that is neither known nor of the product that decides.
    private func newlyNamed(by renewal: RenewalFact) -> Unheard? {
        let instant = renewal.asOf
        guard renewalInEffect(at: instant) == renewal, statusBeside(at: instant) == 1, let product = renewal.productID,
            let until = renewal.renewsAt, instant < until
        else { return nil }
        let isKnown = periods.contains { period in
            guard period.latest.productID == product, !isVoid(period, at: instant) else { return false }
            let isAhead = period.firstSigned <= instant && instant < period.start && period.start < until
            return period.expires == until || isAhead
        }
        if isKnown || periods.isEmpty { return nil }
        // What renewal info since made of a later time says nothing of this one.
        let standing = periods.filter { !isVoid($0, at: instant) && $0.start <= instant }
        let giving = standing.filter { instant < finalEnd(of: $0) && $0.refund(at: instant) == nil }
        if let deciding = giving.last ?? standing.last {
            if deciding.latest.productID == product { return nil }
            let before = facts.renewals.last { $0.asOf < instant && renewalInEffect(at: $0.asOf) == $0 }
            let end = finalEnd(of: deciding)
            // The next renewal, to the product that it was said to renew to, charged ahead.
            if before?.renewalProductID == product, before?.autoRenew != false, end < until,
                instant >= end.adding(days: -1)
            {
                return nil
            }
        }
        return Unheard(from: instant, until: until, product: product)
    }

    /// The end of a period by all that is known, refund included.
    private func finalEnd(of period: Period) -> Timestamp {
        let refund = period.refunds.last { $0.reversed == nil }
        return min(unrefundedEnd(of: period, at: .distantFuture), refund?.date ?? .distantFuture)
    }

    // MARK: - Renewal info

    /// The renewal info that Apple signed last of what counts by an instant.
    func renewalInEffect(at instant: Timestamp) -> RenewalFact? { facts.renewals.last { $0.asOf <= instant } }

    /// Whether a period that began later, or is charged and about to begin, has another end.
    func isStale(_ renewal: RenewalFact, at instant: Timestamp) -> Bool {
        paid(at: instant).contains {
            $0.start > renewal.asOf && $0.firstSigned > renewal.asOf && $0.expires != renewal.renewsAt
        }
    }

    /// The periods that were charged by an instant, and have begun or will within a day.
    func paid(at instant: Timestamp) -> [Period] {
        periods.filter {
            $0.charged <= instant && $0.start <= instant.adding(days: 1) && !isVoid($0, at: instant)
        }
    }

    /// The renewal info in effect unless it is stale.
    func renewal(at instant: Timestamp) -> RenewalFact? {
        renewalInEffect(at: instant).flatMap { isStale($0, at: instant) ? nil : $0 }
    }

    // MARK: - Ends

    /// The first instant after a period, as it stood at an instant.
    func end(of period: Period, at instant: Timestamp) -> Timestamp {
        let end = unrefundedEnd(of: period, at: instant)
        return period.refund(at: instant).map { min(end, $0) } ?? end
    }

    /// The end as renewal info that was signed at the instant saw it, without a refund that had not been told by then.
    func end(of period: Period, asSignedAt instant: Timestamp) -> Timestamp {
        let end = unrefundedEnd(of: period, at: instant)
        let told = period.refunds.last { refund in
            refund.told <= instant && refund.reversed.map { instant < $0 } ?? true
        }
        return told.map { min(end, $0.date) } ?? end
    }

    private func unrefundedEnd(of period: Period, at instant: Timestamp) -> Timestamp {
        let successors = periods.filter {
            period.start < $0.start && $0.start < period.expires && !$0.isRefundedEarlyRenewal(of: period)
                && void($0) == nil && !areParts($0, period)
        }
        let unknown = unheard.first {
            period.start <= $0.from && $0.from < period.expires && $0.product != period.latest.productID
        }
        // What was charged for, and has not been replaced yet.
        let awaited = periods.filter {
            period.start < $0.start && $0.start < period.expires && !$0.isRefundedEarlyRenewal(of: period)
                && !areParts($0, period) && $0.charged <= instant && (void($0).map { instant < $0 } ?? false)
        }
        let ends = [
            knownEnd(of: period, successors, at: instant), awaited.first?.start,
            unknown.flatMap { $0.from <= instant ? $0.from : nil },
        ]
        return ends.compactMap(\.self).min() ?? period.expires
    }

    private func knownEnd(of period: Period, _ successors: [Period], at instant: Timestamp) -> Timestamp {
        if successors.isEmpty, period.latest.isUpgraded, void(period) == nil, let renewal = facts.renewals.last,
            renewal.signedAt >= period.latest.signedAt, let renewsAt = renewal.renewsAt, renewsAt > period.start
        {
            // What replaced it was never heard of; renewal info knows when that ends.
            return min(period.expires, renewsAt)
        }
        guard let successor = successors.first, successor.charged <= instant else { return period.expires }
        return successor.start
    }

    /// The end of what is paid in one stretch: of one product, each period beginning where the one before ends.
    func endOfStretch(from period: Period, at instant: Timestamp) -> Timestamp {
        var end = end(of: period, at: instant)
        let paid = paid(at: instant)
        let index = paid.firstIndex { $0.latest == period.latest } ?? 0
        for next in paid[(index + 1)...] {
            let latestStart = next.latest.isRenewal ? end.adding(days: 1) : end
            guard next.start <= latestStart else { break }
            if next.refund(at: instant) != nil { continue }
            guard next.latest.productID == period.latest.productID else { break }
            end = max(end, self.end(of: next, at: instant))
        }
        return end
    }
}
