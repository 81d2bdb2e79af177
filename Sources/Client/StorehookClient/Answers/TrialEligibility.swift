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

extension TrialEligibility {
    /// Reads an answer. What is missing is nil, empty or none, but for `eligible`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        eligible = try members.decode(Bool.self, forKey: .eligible)
        reason = try members.decodeIfPresent(TrialRefusal.self, forKey: .reason)
        trial = try members.decodeIfPresent(TrialOffer.self, forKey: .trial)
    }
}
