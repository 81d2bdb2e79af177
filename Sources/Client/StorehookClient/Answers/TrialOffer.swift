/// The app's own trial.
public struct TrialOffer: Sendable, Hashable, Decodable {
    /// How many days of 24 hours.
    public var days: Int64
    /// The products that it is offered with, by Apple's ids.
    public var products: [String]
    /// The tier.
    public var tier: String
    /// What customers call the tier.
    public var tierName: String

    private enum CodingKeys: String, CodingKey {
        case days
        case products
        case tier
        case tierName
    }
}

extension TrialOffer {
    /// Reads an answer. What is missing is nil, empty or none, but for `days`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        days = try members.decode(Int64.self, forKey: .days)
        products = try members.value(.products)
        tier = try members.value(.tier)
        tierName = try members.value(.tierName)
    }
}
