package import Accounts
package import Base

/// What a guard knows of an account: what it is as a function of time, and what the catalog of that moment makes of it.
///
/// Phases and not an answer: an end is heeded at its instant, though nobody has asked the database since.
package struct GuardAccount: Sendable {
    /// A stretch of time in which the account stays the same, up to the next one.
    package struct Phase: Sendable, Hashable {
        /// Its first instant.
        package var startsAt: Timestamp
        /// As the API calls it.
        package var status: String
        /// Whether it has what its tier gives.
        package var access: Bool
        /// The tier that it has.
        package var tier: String
        /// When what gives access ends; nil for what has no end.
        package var expiresAt: Timestamp?

        /// Memberwise.
        package init(startsAt: Timestamp, status: String, access: Bool, tier: String, expiresAt: Timestamp?) {
            self.startsAt = startsAt
            self.status = status
            self.access = access
            self.tier = tier
            self.expiresAt = expiresAt
        }
    }

    /// In rising order; at least one.
    package var phases: [Phase]
    /// What is sold; nil where no catalog was ever applied.
    package var catalog: Catalog?
    /// The database's clock when it was read.
    package var readAt: Timestamp

    /// Memberwise; nil where there is no phase.
    package init?(phases: [Phase], catalog: Catalog?, readAt: Timestamp) {
        guard !phases.isEmpty else { return nil }
        self.phases = phases
        self.catalog = catalog
        self.readAt = readAt
    }

    /// What it is at an instant; before what is known begins, the first that is known.
    func phase(at instant: Timestamp) -> Phase {
        // Few: the last ones of a life.
        phases.last { $0.startsAt <= instant } ?? phases[0]
    }

    /// Why it may not pass, or nil.
    /// - Parameters:
    ///   - tier: the tier that it needs at least; with neither this nor a feature, any access will do.
    ///   - feature: what has to be open to it. Whether what is counted is used up is not asked here.
    func refusal(at instant: Timestamp, tier: String?, feature: String?) -> AccessRefusal? {
        let phase = phase(at: instant)
        return (catalog ?? Self.noCatalog)
            .refusal(ofTier: phase.tier, access: phase.access, needing: tier, feature: feature)
    }

    private static let noCatalog = Catalog(tiers: [])
}
