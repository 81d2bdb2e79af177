package import AppleRecords

/// The state of a transaction, named by its id, that a person wants to answer Apple about by hand. Pure: what is sent
/// is decided once more, by the database, when it is begun.
package enum ConsumptionRequestState: Sendable, Hashable {
    /// Nothing is known of it here: there is nothing that an answer could contradict.
    case unheardOf
    /// The id is known in several apps or environments.
    case ambiguous
    /// The transaction is known here, and no request of Apple's about it.
    case notAsked
    /// Apple has asked, and no worker has made a row of it yet.
    case notNoted
    /// Apple has asked: this request is to be answered.
    case open(ConsumptionTrace)
    /// It must not be answered.
    case withheld(ConsumptionReason)
    /// It was answered before, and it is not known whether Apple has that. A person may decide to answer again.
    case unknown(ConsumptionTrace)
    /// It is settled without an answer of ours.
    case settled(ConsumptionOutcome)

    /// - Parameter traces: all that is known of the transaction, the latest request first.
    package init(_ traces: [ConsumptionTrace]) {
        guard let first = traces.first else {
            self = .unheardOf
            return
        }
        guard traces.allSatisfy({ $0.scope == first.scope }) else {
            self = .ambiguous
            return
        }
        if traces.contains(where: { $0.consent == false }) {
            self = .withheld(.consentWithdrawn)
        } else if let taken = traces.first(where: { $0.isBegun && $0.outcome != .refused }) {
            switch taken.outcome {
            case .unknown: self = .unknown(taken)
            case nil: self = .withheld(.anotherUnderWay)
            case .answered, .late, .refused, .notAnswered: self = .withheld(.answeredBefore)
            }
        } else if let waiting = traces.first(where: { $0.isNoted && $0.outcome == nil }) {
            self = .open(waiting)
        } else if traces.contains(where: { $0.notificationUUID != nil && !$0.isNoted }) {
            self = .notNoted
        } else if let outcome = traces.compactMap(\.outcome).first {
            self = .settled(outcome)
        } else {
            self = .notAsked
        }
    }
}
