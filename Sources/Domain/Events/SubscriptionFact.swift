import AppStorePayloads
import Base
import Subscriptions

/// A fact about a subscription that is reported once, whatever its effect on the present.
enum SubscriptionFact {
    /// A period that was not known.
    case period(PaidPeriod)
    /// Money went back. It replaces an earlier report of another share of the same refund.
    case refund(PaidPeriod, replacing: Bool)
    /// The refund was taken back. Where no record of that came, it is dated to the next refund, which shows it, and
    /// counts from the date of the first one.
    case reversal(PaidPeriod, place: Timestamp)

    var period: PaidPeriod {
        switch self {
        case .period(let period), .refund(let period, _), .reversal(let period, _): period
        }
    }

    /// When it came to be.
    var instant: Timestamp {
        switch self {
        case .period(let period): period.chargedAt
        case .refund(let period, _): period.revokedAt ?? period.asOf
        case .reversal(let period, _): period.asOf
        }
    }

    /// From when on it makes the subscription another.
    var place: Timestamp { if case .reversal(_, let place) = self { place } else { instant } }

    /// Whether it came to be before the period began, and that is paid for.
    var isAheadOfPaid: Bool { period.startsAt > instant && !period.isFreeTrial }

    /// The order in which facts of one instant are reported.
    private var rank: Int {
        switch self {
        case .period: 0
        case .reversal: 1
        case .refund: 2
        }
    }

    /// The facts that the records show now and did not before, in order. Only what stands and what stood are compared:
    /// how often records said it, and what they say no more, decides nothing.
    ///
    /// A refund of another date than the one that stood is another refund. So that one was taken back, whether or not a
    /// record of that came: refunds always exceed reversals by the number of refunds that stand, at most one of each
    /// transaction.
    static func news(_ line: SubscriptionNow) -> [SubscriptionFact] {
        guard !line.periods.isEmpty else { return [] }
        var before: [String: PaidPeriod] = [:]
        for period in line.periodsBefore { before[period.key] = period }
        var facts: [SubscriptionFact] = []
        for period in line.periods {
            let known = before[period.key]
            // One that never begins is reported where it was heard of before it was replaced, and not afterwards.
            if period.replacedAt != nil, known == nil { continue }
            // A further part pays for no other period.
            let isNew = known == nil || known?.replacedAt != nil && period.replacedAt == nil
            if isNew, !isFurtherPart(period, line) { facts.append(.period(period)) }
            // A member of the family gets no money back: that access ended is reported as a change.
            guard !period.isFamilyShared else { continue }
            if let former = known?.revokedAt, former != period.revokedAt {
                var restored = period
                restored.asOf = period.revokedAt ?? period.asOf
                restored.revokedAt = nil
                restored.revokedShare = 0
                restored.revokedReason = nil
                facts.append(.reversal(restored, place: period.revokedAt == nil ? period.asOf : former))
            }
            if let revokedAt = period.revokedAt {
                let isOther = known?.revokedAt != revokedAt
                guard isOther || known?.revokedShare != period.revokedShare else { continue }
                facts.append(.refund(period, replacing: !isOther))
            }
        }
        return facts.sorted { ($0.place, $0.rank) < ($1.place, $1.rank) }
    }

    /// The keys of the periods that counted by the records before, and never begin by the records now.
    static func newlyReplaced(_ line: SubscriptionNow) -> [String] {
        let replaced = line.periods.filter { $0.replacedAt != nil }.map(\.key)
        // Nearly always there are none.
        guard !replaced.isEmpty else { return [] }
        let counted = Set(line.periodsBefore.filter { $0.replacedAt == nil }.map(\.key))
        return replaced.filter(counted.contains)
    }

    /// Whether it is a part of a period, and another part of the same period was known before or began earlier.
    private static func isFurtherPart(_ period: PaidPeriod, _ line: SubscriptionNow) -> Bool {
        guard period.isPart else { return false }
        func isOther(_ other: PaidPeriod) -> Bool {
            other.key != period.key && other.productID == period.productID && other.expiresAt == period.expiresAt
        }
        return line.periodsBefore.contains(where: isOther)
            || line.periods.contains {
                isOther($0) && $0.isPart && ($0.startsAt, $0.key) < (period.startsAt, period.key)
            }
    }
}
