import AppStorePayloads
import Base

/// A renewal info as it counts: from an instant to the next one.
struct RenewalWord {
    /// From when on it counts.
    let asOf: Timestamp
    /// The renewal info. One that only repeats has the status that was reported beside the one before.
    let fact: RenewalFact
    /// From when on Apple has said the same without a break.
    let since: Timestamp
    /// The status that was reported beside this one itself.
    let ownStatus: Int?

    /// Those of the facts, in order: at each instant the latest-signed one that counts by then.
    static func all(of facts: PurchaseFacts) -> [RenewalWord] {
        let effective = facts.renewals.effective(asOf: \.asOf)
        var words: [RenewalWord] = []
        words.reserveCapacity(effective.count)
        for (asOf, renewal) in effective {
            var (fact, since) = (renewal, asOf)
            if let last = words.last, renewal.repeats(last.fact) {
                since = last.since
                if fact.reportedStatus == nil { fact.reportedStatus = last.fact.reportedStatus }
            }
            words.append(RenewalWord(asOf: asOf, fact: fact, since: since, ownStatus: renewal.reportedStatus))
        }
        return words
    }
}

extension Array {
    /// Facts, in the order of signing, by the instant from which they count. A fact signed earlier that counts later never
    /// replaces its successor.
    func effective(asOf: (Element) -> Timestamp) -> [(asOf: Timestamp, fact: Element)] {
        var effective: [(asOf: Timestamp, fact: Element)] = []
        for fact in self {
            let instant = asOf(fact)
            while let last = effective.last, last.asOf >= instant { effective.removeLast() }
            effective.append((instant, fact))
        }
        return effective
    }
}
