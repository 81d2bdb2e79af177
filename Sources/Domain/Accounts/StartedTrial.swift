import AppStorePayloads
public import Base

/// The app's own trial of an account: one for ever.
public struct StartedTrial: Sendable, Hashable {
    /// The tier that it gives.
    public var tier: String
    /// The short id of the product that it was offered with.
    public var product: String?
    /// Its first instant.
    public var startedAt: Timestamp
    /// Its end.
    public var endsAt: Timestamp

    /// Memberwise.
    public init(tier: String, product: String? = nil, startedAt: Timestamp, endsAt: Timestamp) {
        self.tier = tier
        self.product = product
        self.startedAt = startedAt
        self.endsAt = endsAt
    }
}
