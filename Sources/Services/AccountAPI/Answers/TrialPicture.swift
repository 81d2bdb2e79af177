import AppStorePayloads
package import Base

/// The app's own trial of an account, as answers tell of it.
package struct TrialPicture: Sendable, Hashable {
    /// The tier that it gives.
    package var tier: String
    /// When it was started.
    package var startedAt: Timestamp
    /// When it ends or ended.
    package var endsAt: Timestamp
    /// When a purchase took its place; nil where none did.
    package var convertedAt: Timestamp?

    /// A trial.
    package init(tier: String, startedAt: Timestamp, endsAt: Timestamp, convertedAt: Timestamp? = nil) {
        self.tier = tier
        self.startedAt = startedAt
        self.endsAt = endsAt
        self.convertedAt = convertedAt
    }
}
