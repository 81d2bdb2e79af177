import AppStorePayloads
public import Base

/// A purchase in a receipt (attribute 17).
public struct ReceiptPurchase: Sendable, Hashable {
    /// The quantity.
    public let quantity: Int64?
    /// The product.
    public let productId: String?
    /// The transaction.
    public let transactionId: String?
    /// The purchase's first transaction.
    public let originalTransactionId: String?
    /// When it was bought.
    public let purchaseDate: Timestamp?
    /// The date of the purchase's first transaction.
    public let originalPurchaseDate: Timestamp?
    /// When the period ends, of a subscription.
    public let expiresDate: Timestamp?
    /// When Apple refunded it.
    public let cancellationDate: Timestamp?
    /// The paid period.
    public let webOrderLineItemId: Int64?
    /// Whether it is a period at an introductory price.
    public let isInIntroOfferPeriod: Bool?

    /// Reads a purchase; unreadable parts are nil.
    init(_ attributes: ReceiptAttributes) {
        quantity = attributes.integer(1701)
        productId = attributes.text(1702)
        transactionId = attributes.text(1703)
        purchaseDate = attributes.date(1704)
        originalTransactionId = attributes.text(1705)
        originalPurchaseDate = attributes.date(1706)
        expiresDate = attributes.date(1708)
        webOrderLineItemId = attributes.integer(1711)
        cancellationDate = attributes.date(1712)
        isInIntroOfferPeriod = attributes.integer(1719).map { $0 != 0 }
    }
}
