/// Apple's introductory offer of a product, and whether this account may have it.
public struct IntroductoryOffer: Sendable, Hashable, Decodable {
    /// The duration for people, in the language asked for.
    public var displayDuration: String
    /// The price as it is shown.
    public var displayPrice: String?
    /// ISO 8601, as Apple writes an offerPeriod: P7D.
    public var duration: String
    /// Whether this account may have it, by the purchases that are known here; StoreKit's answer on the device goes first.
    public var eligible: Bool
    /// In thousandths of the product's currency: of the whole time, with pay_as_you_go of each period; nil for a free_trial.
    public var price: Int64?
    /// Why not.
    public var reason: IntroductoryRefusal?
    /// Its kind.
    public var type: IntroductoryOfferType

    private enum CodingKeys: String, CodingKey {
        case displayDuration
        case displayPrice
        case duration
        case eligible
        case price
        case reason
        case type
    }
}

extension IntroductoryOffer {
    /// Reads an answer. What is missing is nil, empty or none, but for `duration`, `type`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        displayDuration = try members.value(.displayDuration)
        displayPrice = try members.decodeIfPresent(String.self, forKey: .displayPrice)
        duration = try members.decode(String.self, forKey: .duration)
        eligible = try members.value(.eligible)
        price = try members.decodeIfPresent(Int64.self, forKey: .price)
        reason = try members.decodeIfPresent(IntroductoryRefusal.self, forKey: .reason)
        type = try members.decode(IntroductoryOfferType.self, forKey: .type)
    }
}
