/// Whether the account may have the app's own trial.
public struct TrialEligibility: Sendable, Hashable, Decodable {
    /// Whether the account may have it.
    public var eligible: Bool
    /// Why not.
    public var reason: TrialRefusal?
    /// What the catalog offers.
    public var trial: TrialOffer?

    private enum CodingKeys: String, CodingKey {
        case eligible
        case reason
        case trial
    }
}
