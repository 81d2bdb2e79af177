import AppStorePayloads
public import Base

/// A stretch of time, up to the next phase, in which nothing about a subscription changes.
public struct Phase: Sendable, Hashable {
    /// The first instant.
    public let startsAt: Timestamp
    /// What the subscription is throughout.
    public let value: StatusAtInstant
    /// What accounts need to know beside it.
    public internal(set) var origin: PhaseOrigin

    /// A phase.
    public init(startsAt: Timestamp, value: StatusAtInstant, origin: PhaseOrigin = PhaseOrigin()) {
        self.startsAt = startsAt
        self.value = value
        self.origin = origin
    }

    /// Whether a phase that begins later differs in nothing else.
    func continues(as later: Phase) -> Bool { value == later.value && origin == later.origin }
}
