import AppStorePayloads
public import Base

/// A stretch of time, up to the next phase, in which nothing about a subscription changes.
public struct Phase: Sendable, Hashable {
    /// The first instant.
    public let startsAt: Timestamp
    /// What the subscription is throughout.
    public let value: StatusAtInstant

    /// A phase.
    public init(startsAt: Timestamp, value: StatusAtInstant) {
        self.startsAt = startsAt
        self.value = value
    }
}
