public import Base

/// The kind of offer (`offerType`).
public struct OfferType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Introductory offer.
    public static let introductory = OfferType(rawValue: 1)
    /// Promotional offer.
    public static let promotional = OfferType(rawValue: 2)
    /// Offer code.
    public static let code = OfferType(rawValue: 3)
    /// Win-back offer.
    public static let winBack = OfferType(rawValue: 4)

    /// The values this release knows.
    public static let known: Set<OfferType> = [.introductory, .promotional, .code, .winBack]
}
