package import EvidenceStore
package import Postgres

/// A claimed test notification that was asked of Apple, or is to be.
package struct Canary: ScopedRow, Hashable {
    /// The claim, with its app and environment.
    package var claim: ScopedClaim
    /// What Apple gave for it; nil while Apple was not asked.
    package var token: String?
    /// How long ago Apple was asked.
    package var age: Duration?
}

/// How far a test notification has come here.
package struct CanaryArrival: Sendable, Hashable {
    /// Where it is.
    package enum Place: String, Sendable, Hashable {
        /// It came the way that Apple's posts take, and was applied.
        case applied
        /// It was lost on that way, and fetched from Apple's notification history.
        case recovered
        /// It was stored and is a dead letter.
        case dead
    }

    /// Where it is.
    package var place: Place
    /// When its bytes were stored.
    package var storedAt: PostgresTimestamp?
    /// When it was applied.
    package var appliedAt: PostgresTimestamp?
}

/// Where a test notification is that no worker has settled.
package enum CanaryWaiting: Sendable, Hashable {
    /// It is stored.
    case stored(WaitingPost)
    /// It was not stored, as far as can be seen.
    case nowhere
    /// This user may not see it, or more is waiting than is looked through.
    case hidden
}

/// How long a test notification took, each counted from when Apple was asked.
package struct CanaryTimes: Sendable, Hashable {
    /// Until Apple posted it for the first time, by Apple's clock.
    package var posted: Duration?
    /// Until it was stored.
    package var stored: Duration?
    /// Until it was applied.
    package var applied: Duration?
}
