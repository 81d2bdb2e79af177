package import AppStoreVerification
package import Base

/// What an app receipt says, as people and scripts see it, under verifyReceipt's names.
package enum ReceiptContents {
    /// Its members.
    package static let shape = CommandShape<AppReceipt>([
        .init("receipt_type", \.receiptType), .init("bundle_id", \.bundleId),
        .init("application_version", \.applicationVersion),
        .init("original_application_version", \.originalApplicationVersion),
        .init("receipt_creation_date", \.creationDate), .init("expiration_date", \.expirationDate),
        .list("in_app", purchase, \.purchases),
    ])

    private static let purchase = CommandShape<ReceiptPurchase>([
        .init("transaction_id", \.transactionId), .init("original_transaction_id", \.originalTransactionId),
        .init("product_id", \.productId), .init("quantity", \.quantity), .init("purchase_date", \.purchaseDate),
        .init("original_purchase_date", \.originalPurchaseDate), .init("expires_date", \.expiresDate),
        .init("cancellation_date", \.cancellationDate), .init("web_order_line_item_id", \.webOrderLineItemId),
        .init("is_in_intro_offer_period", \.isInIntroOfferPeriod),
    ])
}
