public import Base

/// Why a subscription ended (`expirationIntent`).
public struct ExpirationIntent: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The customer cancelled.
    public static let customerCancelled = ExpirationIntent(rawValue: 1)
    /// The charge failed.
    public static let billing = ExpirationIntent(rawValue: 2)
    /// No agreement to a higher price.
    public static let priceIncrease = ExpirationIntent(rawValue: 3)
    /// The product was not available.
    public static let productUnavailable = ExpirationIntent(rawValue: 4)
    /// Another reason.
    public static let other = ExpirationIntent(rawValue: 5)

    /// The values this release knows.
    public static let known: Set<ExpirationIntent> = [
        .customerCancelled, .billing, .priceIncrease, .productUnavailable, .other,
    ]

    /// Its word; Apple's number where this release has no word for it.
    public var word: String {
        switch self {
        case .customerCancelled: "customer_cancelled"
        case .billing: "billing"
        case .priceIncrease: "price_increase"
        case .productUnavailable: "product_unavailable"
        case .other: "other"
        default: description
        }
    }
}
