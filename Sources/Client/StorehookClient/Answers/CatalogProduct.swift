/// A product of the catalog.
public struct CatalogProduct: Sendable, Hashable, Decodable {
    /// The app.
    public var bundleID: String
    /// ISO 4217.
    public var currency: String?
    /// What customers read of it.
    public var description: String?
    /// The price as it is shown.
    public var displayPrice: String?
    /// The price a day as it is shown.
    public var displayPricePerDay: String?
    /// What its tier gives.
    public var features: [TierFeature]
    /// The catalog's id.
    public var id: String
    /// Apple's introductory offer of it.
    public var introductory: IntroductoryOffer?
    /// Whether it is to stand out.
    public var isPopular: Bool
    /// What customers call it.
    public var name: String
    /// How long it lasts each time, or is counted over.
    public var period: SubscriptionPeriod
    /// How long, as it is shown.
    public var periodName: String?
    /// In thousandths of the currency. What is paid is Apple's to say.
    public var price: Int64?
    /// In thousandths of the currency.
    public var pricePerDay: Int64?
    /// Apple's id.
    public var productID: String
    /// The place on a paywall.
    public var sortOrder: Int64
    /// The tier.
    public var tier: String
    /// What customers call the tier.
    public var tierName: String
    /// The app's own trial, where this account may start it.
    public var trial: TrialOffer?

    private enum CodingKeys: String, CodingKey {
        case bundleID = "bundleId"
        case currency
        case description
        case displayPrice
        case displayPricePerDay
        case features
        case id
        case introductory
        case isPopular
        case name
        case period
        case periodName
        case price
        case pricePerDay
        case productID = "productId"
        case sortOrder
        case tier
        case tierName
        case trial
    }
}

extension CatalogProduct {
    /// Reads an answer. What is missing is nil, empty or none, but for `productID`, `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        bundleID = try members.value(.bundleID)
        currency = try members.decodeIfPresent(String.self, forKey: .currency)
        description = try members.decodeIfPresent(String.self, forKey: .description)
        displayPrice = try members.decodeIfPresent(String.self, forKey: .displayPrice)
        displayPricePerDay = try members.decodeIfPresent(String.self, forKey: .displayPricePerDay)
        features = try members.value(.features)
        id = try members.value(.id)
        introductory = try members.decodeIfPresent(IntroductoryOffer.self, forKey: .introductory)
        isPopular = try members.value(.isPopular)
        name = try members.value(.name)
        period = try members.value(.period)
        periodName = try members.decodeIfPresent(String.self, forKey: .periodName)
        price = try members.decodeIfPresent(Int64.self, forKey: .price)
        pricePerDay = try members.decodeIfPresent(Int64.self, forKey: .pricePerDay)
        productID = try members.decode(String.self, forKey: .productID)
        sortOrder = try members.value(.sortOrder)
        tier = try members.decode(String.self, forKey: .tier)
        tierName = try members.value(.tierName)
        trial = try members.decodeIfPresent(TrialOffer.self, forKey: .trial)
    }
}
