import AppStorePayloads
package import AppStoreVerification
import Base

/// What an app receipt says, as people and scripts see it, under verifyReceipt's names.
package struct ReceiptContents: Encodable, Sendable {
    private struct Purchase: Encodable {
        var transactionId: String?
        var originalTransactionId: String?
        var productId: String?
        var quantity: Int64?
        var purchaseDate: String?
        var originalPurchaseDate: String?
        var expiresDate: String?
        var cancellationDate: String?
        var webOrderLineItemId: Int64?
        var isInIntroOfferPeriod: Bool?

        enum CodingKeys: String, CodingKey {
            case transactionId = "transaction_id"
            case originalTransactionId = "original_transaction_id"
            case productId = "product_id"
            case quantity
            case purchaseDate = "purchase_date"
            case originalPurchaseDate = "original_purchase_date"
            case expiresDate = "expires_date"
            case cancellationDate = "cancellation_date"
            case webOrderLineItemId = "web_order_line_item_id"
            case isInIntroOfferPeriod = "is_in_intro_offer_period"
        }

        init(_ purchase: ReceiptPurchase) {
            transactionId = purchase.transactionId
            originalTransactionId = purchase.originalTransactionId
            productId = purchase.productId
            quantity = purchase.quantity
            purchaseDate = purchase.purchaseDate?.description
            originalPurchaseDate = purchase.originalPurchaseDate?.description
            expiresDate = purchase.expiresDate?.description
            cancellationDate = purchase.cancellationDate?.description
            webOrderLineItemId = purchase.webOrderLineItemId
            isInIntroOfferPeriod = purchase.isInIntroOfferPeriod
        }
    }

    private let receiptType: String?
    private let bundleId: String?
    private let applicationVersion: String?
    private let originalApplicationVersion: String?
    private let receiptCreationDate: String?
    private let expirationDate: String?
    private let inApp: [Purchase]

    private enum CodingKeys: String, CodingKey {
        case receiptType = "receipt_type"
        case bundleId = "bundle_id"
        case applicationVersion = "application_version"
        case originalApplicationVersion = "original_application_version"
        case receiptCreationDate = "receipt_creation_date"
        case expirationDate = "expiration_date"
        case inApp = "in_app"
    }

    /// What a receipt says.
    package init(_ receipt: AppReceipt) {
        receiptType = receipt.receiptType
        bundleId = receipt.bundleId
        applicationVersion = receipt.applicationVersion
        originalApplicationVersion = receipt.originalApplicationVersion
        receiptCreationDate = receipt.creationDate?.description
        expirationDate = receipt.expirationDate?.description
        inApp = receipt.purchases.map(Purchase.init)
    }

    /// Its JSON text.
    package var json: [UInt8] { (try? JSONText.encode(self)).map { Array($0.utf8) } ?? [] }
}
