public import AppStorePayloads
public import Base

/// One transaction, or the renewal state of one subscription, from an answer of verifyReceipt: Apple's own JSON, cut
/// out of the answer with the members that it needs to be understood.
///
/// It is not signed. It is read like the record that Apple signs of the same thing; the date of Apple's answer stands
/// in for the signature's date.
public struct ReceiptExtract: Sendable, Hashable {
    /// What it says.
    public enum Content: Sendable, Hashable {
        /// Of a transaction.
        case transaction(TransactionPayload)
        /// Of what is to come of a subscription.
        case renewal(RenewalInfoPayload)
    }

    /// What all extracts of one answer have in common.
    struct Frame: Sendable {
        var bundleId: String
        var environment: Environment
        var requestDate: Timestamp
        /// Whether Apple says when it looked; otherwise the date is the moment of asking, and is kept as that.
        var isDatedByApple = true

        /// What is kept beside a date that Apple does not say.
        static let asked = "asked"
    }

    /// Its bytes: equal for the same content answered at the same instant.
    public let json: [UInt8]
    /// Its bytes without the instant: equal as long as Apple's content is the same.
    public let saying: [UInt8]
    /// The app.
    public let bundleId: String
    /// The environment that answered.
    public let environment: Environment
    /// What it says.
    public let content: Content

    /// Reads one that was kept.
    ///
    /// - Throws: ``AnswerFault/unreadable(_:)``.
    public init(_ json: [UInt8]) throws(AnswerFault) {
        guard let object = try? JSONDocument(json).object else { throw .unreadable("it is no JSON object") }
        guard let bundleId = object.string("bundle_id"), let environment = object.string("environment"),
            let requestDate = object.lenientDate("request_date_ms")
        else {
            throw .unreadable("it does not say of which app it is, from which environment, or when it was answered")
        }
        let frame = Frame(
            bundleId: bundleId, environment: Environment(rawValue: environment), requestDate: requestDate,
            isDatedByApple: object.string("request_date_is") != Frame.asked)
        let whole: ReceiptExtract?
        if let purchase = object.object("purchase") {
            whole = ReceiptExtract(frame, purchase: purchase)
        } else if let renewal = object.object("renewal") {
            whole = ReceiptExtract(frame, renewal: renewal, endsAt: object.lenientDate("expires_date_ms"))
        } else {
            whole = nil
        }
        guard let whole else { throw .unreadable("it speaks of no transaction and of no subscription") }
        self = whole
    }

    /// What an answer says of a transaction; nil where that cannot be kept.
    init?(_ frame: Frame, purchase object: JSONObject) {
        guard let purchase = ReceiptAnswerPurchase(object) else { return nil }
        // A receipt of iOS 6 is one purchase itself, and says beside it when Apple looked.
        let isDated = object.lenientDate("request_date_ms") != nil
        self.init(frame, "purchase", object.text, saying: isDated ? object.timeless : nil, endsAt: nil) {
            () throws(PayloadError) in
            .transaction(try .decode(purchase.payload(of: frame)))
        }
    }

    /// What an answer says of a subscription's future; nil where that cannot be kept.
    /// - Parameter endsAt: when the period ends that was bought last, by the same answer.
    init?(_ frame: Frame, renewal object: JSONObject, endsAt: Timestamp?) {
        guard let renewal = ReceiptAnswerRenewal(object) else { return nil }
        self.init(frame, "renewal", object.text, endsAt: endsAt) { () throws(PayloadError) in
            .renewal(try .decode(renewal.payload(of: frame, endsAt: endsAt)))
        }
    }

    private init?(
        _ frame: Frame, _ name: String, _ words: [UInt8], saying timeless: [UInt8]? = nil, endsAt: Timestamp?,
        _ content: () throws(PayloadError) -> Content
    ) {
        // A key that is too long, or a date that no record has.
        guard let content = try? content() else { return nil }
        self.content = content
        bundleId = frame.bundleId
        environment = frame.environment
        var common = RequestBody()
        common.add("bundle_id", frame.bundleId)
        common.add("environment", frame.environment.rawValue)
        common.add("expires_date_ms", endsAt)
        let head = Array(",\"\(name)\":".utf8)
        saying = Array(common.bytes.dropLast()) + head + (timeless ?? words) + [UInt8(ascii: "}")]
        common.add("request_date_is", frame.isDatedByApple ? nil : Frame.asked)
        common.add("request_date_ms", frame.requestDate)
        json = Array(common.bytes.dropLast()) + head + words + [UInt8(ascii: "}")]
    }
}

extension ReceiptAnswerPurchase {
    /// The JSON text of the record that Apple would sign of it, as far as the answer goes. Which of the three kinds of things bought
    /// once it is, no answer says.
    fileprivate func payload(of frame: ReceiptExtract.Frame) -> [UInt8] {
        var record = RequestBody()
        record.add("transactionId", transactionId)
        record.add("originalTransactionId", originalTransactionId)
        record.add("bundleId", frame.bundleId)
        record.add("environment", frame.environment.rawValue)
        record.add("signedDate", frame.requestDate)
        record.add("webOrderLineItemId", webOrderLineItemId)
        record.add("productId", productId)
        record.add("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        record.add("purchaseDate", purchaseDate)
        record.add("originalPurchaseDate", originalPurchaseDate)
        record.add("expiresDate", expiresDate)
        record.add("quantity", quantity)
        record.add("type", expiresDate == nil ? nil : ProductType.autoRenewableSubscription.rawValue)
        record.add("inAppOwnershipType", ownershipType?.rawValue)
        record.add("appAccountToken", appAccountToken)
        // Apple names the date of an upgrade in the same way; that is no refund, and the plan after it says when it began.
        if isUpgraded == true {
            record.add("isUpgraded", true)
        } else {
            record.add("revocationDate", cancellationDate)
            record.add("revocationReason", cancellationReason?.rawValue)
        }
        // Apple sets the trial flag of every period that costs nothing. Which offer it is, the record says beside it.
        if let offer = offerType {
            record.add("offerType", offer.rawValue)
            record.add("offerIdentifier", offerIdentifier)
            record.add("offerDiscountType", isTrialPeriod == true ? OfferDiscountType.freeTrial.rawValue : nil)
        }
        if expiresDate != nil {
            let isFirst = transactionId == originalTransactionId || purchaseDate == originalPurchaseDate
            record.add("transactionReason", (isFirst ? TransactionReason.purchase : .renewal).rawValue)
        }
        return record.bytes
    }
}

extension ReceiptAnswerRenewal {
    /// The JSON text of the renewal info that Apple would sign, as far as the answer goes.
    fileprivate func payload(of frame: ReceiptExtract.Frame, endsAt: Timestamp?) -> [UInt8] {
        var record = RequestBody()
        record.add("originalTransactionId", originalTransactionId)
        record.add("environment", frame.environment.rawValue)
        record.add("signedDate", frame.requestDate)
        record.add("productId", productId)
        record.add("autoRenewProductId", autoRenewProductId)
        record.add("autoRenewStatus", autoRenewStatus?.rawValue)
        record.add("renewalDate", endsAt)
        record.add("expirationIntent", expirationIntent?.rawValue)
        record.add("isInBillingRetryPeriod", isInBillingRetryPeriod)
        record.add("gracePeriodExpiresDate", gracePeriodExpiresDate)
        record.add("priceIncreaseStatus", priceConsentStatus?.rawValue)
        return record.bytes
    }
}
