public import Base

/// Why there is a transaction (`transactionReason`).
public struct TransactionReason: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer bought.
    public static let purchase = TransactionReason(rawValue: "PURCHASE")
    /// Apple renewed.
    public static let renewal = TransactionReason(rawValue: "RENEWAL")

    /// The values this release knows.
    public static let known: Set<TransactionReason> = [.purchase, .renewal]
}
