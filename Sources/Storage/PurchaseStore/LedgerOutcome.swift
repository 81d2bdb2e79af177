/// The outcome for an entry.
public enum LedgerOutcome: String, Sendable, Hashable {
    /// Recorded, and its facts merged.
    case applied
    /// Recorded and its facts merged, but its type is one that this release does not know.
    case parked
    /// Its notificationUUID is recorded already: nothing was changed.
    case duplicate
}
