public import AppStorePayloads
public import Base

/// A transaction in verifyReceipt's answer. Raw values are kept as Apple writes them.
public struct ReceiptAnswerPurchase: Sendable, Hashable {
    /// The transaction.
    public let transactionId: String
    /// The first transaction of the same purchase.
    public let originalTransactionId: String
    /// What.
    public let productId: String?
    /// How many.
    public let quantity: Int64?
    /// When.
    public let purchaseDate: Timestamp?
    /// When the first transaction of the same purchase was.
    public let originalPurchaseDate: Timestamp?
    /// When the period ends, of a subscription.
    public let expiresDate: Timestamp?
    /// When Apple took it back, or the customer upgraded.
    public let cancellationDate: Timestamp?
    /// Why Apple took it back: 0 another reason, 1 a fault of the app.
    public let cancellationReason: RevocationReason?
    /// Whether the period is a free trial.
    public let isTrialPeriod: Bool?
    /// Whether the period is at an introductory price.
    public let isInIntroOfferPeriod: Bool?
    /// The promotional offer, as App Store Connect names it.
    public let promotionalOfferId: String?
    /// The reference name of the offer code.
    public let offerCodeName: String?
    /// The win-back offer, as App Store Connect names it.
    public let winBackOfferId: String?
    /// Whether it was replaced by an upgrade.
    public let isUpgraded: Bool?
    /// Whether the customer bought it, or a family member shares it.
    public let ownershipType: OwnershipType?
    /// The paid period.
    public let webOrderLineItemId: String?
    /// The group of a subscription.
    public let subscriptionGroupIdentifier: String?
    /// The account that the app bound to it.
    public let appAccountToken: String?

    /// Reads one; nil for what names no transaction, or one by an id that no record can have.
    init?(_ object: JSONObject) {
        guard let id = object.lenientText("transaction_id"), !id.isEmpty else { return nil }
        transactionId = id
        let original = object.lenientText("original_transaction_id") ?? ""
        if TextMember.transactionId.isExceeded(by: id) || TextMember.originalTransactionId.isExceeded(by: original) {
            return nil
        }
        originalTransactionId = original.isEmpty ? id : original
        productId = object.string("product_id")
        quantity = object.lenientInteger("quantity")
        purchaseDate = object.lenientDate("purchase_date_ms")
        originalPurchaseDate = object.lenientDate("original_purchase_date_ms")
        // A receipt of iOS 6 has the milliseconds under the other name.
        expiresDate = object.lenientDate("expires_date_ms") ?? object.lenientDate("expires_date")
        cancellationDate = object.lenientDate("cancellation_date_ms")
        cancellationReason = object.lenientInteger("cancellation_reason").map(RevocationReason.init(rawValue:))
        isTrialPeriod = object.lenientFlag("is_trial_period")
        isInIntroOfferPeriod = object.lenientFlag("is_in_intro_offer_period")
        func text(_ name: StaticString) -> String? { object.lenientText(name).flatMap { $0.isEmpty ? nil : $0 } }
        promotionalOfferId = text("promotional_offer_id")
        offerCodeName = text("offer_code_ref_name")
        winBackOfferId = text("win_back_offer_id")
        isUpgraded = object.lenientFlag("is_upgraded")
        ownershipType = object.string("in_app_ownership_type").map(OwnershipType.init(rawValue:))
        webOrderLineItemId = object.lenientText("web_order_line_item_id")
        subscriptionGroupIdentifier = object.lenientText("subscription_group_identifier")
        appAccountToken = object.string("app_account_token")
    }

    /// The kind of offer that the period was bought with, as the signed record would say; nil for none.
    var offerType: OfferType? {
        if promotionalOfferId != nil { return .promotional }
        if offerCodeName != nil { return .code }
        if winBackOfferId != nil { return .winBack }
        return isTrialPeriod == true || isInIntroOfferPeriod == true ? .introductory : nil
    }

    /// The offer's name; nil for an introductory one, which has none.
    var offerIdentifier: String? { promotionalOfferId ?? offerCodeName ?? winBackOfferId }
}
