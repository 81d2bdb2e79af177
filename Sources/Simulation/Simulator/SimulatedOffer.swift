/// A subscription offer that changes the price, and perhaps the length, of a period.
public struct SimulatedOffer: Sendable, Hashable, Codable {
    /// The customers that may take it, by Apple's number in `offerType`.
    public enum Kind: Int, Sendable, Hashable, Codable {
        /// For new subscribers.
        case introductory = 1
        /// For present or former subscribers, signed by the app's server.
        case promotional = 2
        /// By a code.
        case code = 3
        /// For former subscribers, offered by Apple.
        case winBack = 4
    }

    /// The customers that may take it.
    public var kind: Kind
    /// Its name in App Store Connect; introductory offers have none.
    public var identifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO` or `PAY_UP_FRONT`.
    public var discountType: String
    /// ISO 8601 duration of the offer.
    public var period: String
    /// How long the period under the offer lasts; nil for the product's own.
    public var length: Milliseconds?
    /// What is paid, in percent of the product's price.
    public var percent: Int64

    /// A week for nothing.
    public static let freeWeek = SimulatedOffer(
        kind: .introductory, identifier: nil, discountType: "FREE_TRIAL", period: "P1W", length: .days(7), percent: 0)
    /// Three months for the price of one and a half, paid at once.
    public static let quarterUpFront = SimulatedOffer(
        kind: .introductory, identifier: nil, discountType: "PAY_UP_FRONT", period: "P3M", length: .days(90),
        percent: 150)
    /// Half the price, by a promotional offer.
    public static let promotion = SimulatedOffer(
        kind: .promotional, identifier: "spring_half_price", discountType: "PAY_AS_YOU_GO", period: "P1M",
        length: nil, percent: 50)
    /// A month for nothing, by a code.
    public static let codeFreeMonth = SimulatedOffer(
        kind: .code, identifier: "welcome_code", discountType: "FREE_TRIAL", period: "P1M", length: .days(30),
        percent: 0)
    /// Two months at a quarter of the price, paid at once, to win a customer back.
    public static let winBack = SimulatedOffer(
        kind: .winBack, identifier: "come_back", discountType: "PAY_UP_FRONT", period: "P2M", length: .days(60),
        percent: 50)
}
