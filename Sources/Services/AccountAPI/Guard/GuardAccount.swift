import AppStorePayloads
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

    /// What is sold, as far as a guard asks.
    package struct Offer: Sendable, Hashable {
        /// The tiers, in rising order.
        package var tiers: [String]
        /// The features, each with the tiers that open it.
        package var features: [String: Set<String>]

        /// Memberwise.
        package init(tiers: [String], features: [String: Set<String>]) {
            self.tiers = tiers
            self.features = features
        }
    }

    /// In rising order; at least one.
    package var phases: [Phase]
    /// What is sold.
    package var offer: Offer
    /// The database's clock when it was read.
    package var readAt: Timestamp

    /// Memberwise; nil where there is no phase.
    package init?(phases: [Phase], offer: Offer, readAt: Timestamp) {
        guard !phases.isEmpty else { return nil }
        self.phases = phases
        self.offer = offer
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
    func refusal(at instant: Timestamp, tier: String?, feature: String?) -> GuardRefusal? {
        let phase = phase(at: instant)
        if tier == nil, feature == nil { return phase.access ? nil : .noAccess }
        if let tier {
            guard let wanted = offer.tiers.firstIndex(of: tier) else { return .unknownTier }
            guard let has = offer.tiers.firstIndex(of: phase.tier), has >= wanted else { return .tierRequired }
        }
        if let feature {
            guard let tiers = offer.features[feature] else { return .unknownFeature }
            guard tiers.contains(phase.tier) else { return .featureNotIncluded }
        }
        return nil
    }
}

/// Why a guard lets somebody not through: what stands in `X-Storehook-Reason`.
enum GuardRefusal: String, Error, Sendable, CaseIterable {
    /// Nothing gives access.
    case noAccess = "no_access"
    /// A higher tier is needed.
    case tierRequired = "tier_required"
    /// The tier does not open the feature.
    case featureNotIncluded = "feature_not_included"
    /// The catalog has no such tier.
    case unknownTier = "unknown_tier"
    /// The catalog has no such feature.
    case unknownFeature = "unknown_feature"
    /// Nobody knows: the database has been away for too long.
    case unavailable
}
