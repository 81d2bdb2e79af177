import AppStorePayloads
public import Base

/// A subscription's state as a function of time, derived from its facts and nothing else.
///
/// The function is piecewise constant: it changes only at instants that the facts name (a period begins or ends, a record
/// is signed, grace ends, retrying ends). So it is worked out once, as ``phases``, and asked at any instant.
public struct SubscriptionState: Sendable, Hashable {
    /// Where each phase begins, in order, the last one open-ended; before the first one there is no subscription.
    public let phases: [Phase]
    /// The last phase, which never ends.
    public let last: Phase
    /// The subscription group, by the latest period.
    public let subscriptionGroupID: String?
    /// The ends of its earlier stretches, in order; see ``StretchEnd``.
    public let stretchEnds: [StretchEnd]

    /// When the latest known paid stretch ends, by the last phase.
    public var paidUntil: Timestamp { last.value.expiresAt }

    /// Derives the state; nil where the facts make no subscription. A caller that also needs what the facts do not
    /// explain derives ``PurchaseState``.
    public init?(
        _ facts: PurchaseFacts, in environment: String = Environment.production.rawValue,
        policy: StatusPolicy = StatusPolicy()
    ) {
        guard let state = PurchaseState(facts, in: environment, policy: policy).subscription else { return nil }
        self = state
    }

    init?(_ phases: [Phase], subscriptionGroupID: String?, stretchEnds: [StretchEnd] = []) {
        guard let last = phases.last else { return nil }
        self.phases = phases
        self.last = last
        self.subscriptionGroupID = subscriptionGroupID
        self.stretchEnds = stretchEnds
    }

    /// What the subscription is at an instant; nil before the first purchase.
    public func status(at instant: Timestamp) -> StatusAtInstant? {
        let next = phases.partitioningIndex { $0.startsAt > instant }
        return next > 0 ? phases[next - 1].value : nil
    }
}
