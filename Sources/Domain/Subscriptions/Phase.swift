public import AppStorePayloads

/// A stretch of time in which a subscription's status stays the same, up to the next phase.
public struct Phase: Sendable, Hashable {
    /// The first instant; ``Timestamp/distantPast`` for the first phase.
    public let startsAt: Timestamp
    /// What the subscription is throughout.
    public let value: StatusAtInstant
}
