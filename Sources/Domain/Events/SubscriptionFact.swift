import AppStorePayloads
import Base
import Subscriptions

/// Something about a subscription that is told once, whatever it makes of the present.
enum SubscriptionFact {
    /// A period that was not known.
    case period(PaidPeriod)
    /// Money went back. Where another share of the same refund was told, it takes the place of that.
    case refund(PaidPeriod, replacing: Bool)
    /// It stands no more. Where that was not heard, it is dated to when the next refund shows it, and counts from when the first
    /// one did.
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

    /// The order in which facts of one instant are told.
    private var rank: Int {
        switch self {
        case .period: 0
        case .reversal: 1
        case .refund: 2
        }
    }

    /// What the records tell that they did not tell before, in order. What stands is compared with what stood: how often each was
    /// said, and what was said and is said no more, decides nothing.
    ///
    /// A refund of another date than the one that stood is another refund. So that one was taken back, whether or not it was
    /// heard: at any time there have been as many refunds more than reversals as stand, one at the most of each transaction.
    static func news(_ line: SubscriptionNow) -> [SubscriptionFact] {
        guard !line.periods.isEmpty else { return [] }
        var before: [String: PaidPeriod] = [:]
        for period in line.periodsBefore { before[period.key] = period }
        var facts: [SubscriptionFact] = []
        for period in line.periods {
            let known = before[period.key]
            if known == nil { facts.append(.period(period)) }
            // A member of the family gets no money back: that access ended is a change, and told as one.
            guard !period.isFamilyShared else { continue }
            if let former = known?.revokedAt, former != period.revokedAt {
                var restored = period
                restored.asOf = period.revokedAt ?? period.asOf
                restored.revokedAt = nil
                restored.revokedShare = 0
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
}
