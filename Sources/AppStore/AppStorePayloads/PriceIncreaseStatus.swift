public import Base

/// The customer's answer to a price increase (`priceIncreaseStatus`).
public struct PriceIncreaseStatus: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Not answered.
    public static let unanswered = PriceIncreaseStatus(rawValue: 0)
    /// Agreed, or informed where no consent is needed.
    public static let agreed = PriceIncreaseStatus(rawValue: 1)

    /// The values this release knows.
    public static let known: Set<PriceIncreaseStatus> = [.unanswered, .agreed]
}
