public import AppStorePayloads

/// verifyReceipt's answer with status 0: an environment's word for a receipt, over TLS and not signed. It is weaker than any record
/// that Apple signed.
public struct ReceiptAnswer: Sendable, Hashable {
    /// The answer, byte for byte.
    public let json: [UInt8]
    /// Who gave it.
    public let environment: Environment
    /// The app (`bundle_id`).
    public let bundleId: String
    /// When Apple looked (`request_date_ms`).
    public let requestDate: Timestamp?
    /// The purchases: those in the receipt, and of subscriptions all that Apple has by now; each transaction once, the later word
    /// of it.
    public let purchases: [ReceiptAnswerPurchase]
    /// What is to come of each subscription (`pending_renewal_info`).
    public let renewals: [ReceiptAnswerRenewal]

    /// Reads an answer.
    ///
    /// - Throws: ``AnswerFault/unreadable(_:)``.
    init(_ json: [UInt8], from environment: Environment) throws(AnswerFault) {
        guard let object = try? JSONDocument(json).object, let receipt = object.object("receipt") else {
            throw .unreadable("receipt is missing")
        }
        guard let bundleId = receipt.string("bundle_id") ?? receipt.string("bid") else {
            throw .unreadable("it does not say which app the receipt is of")
        }
        if let said = object.string("environment"), said != environment.rawValue {
            throw .unreadable("environment is not the one that was asked")
        }
        self.json = json
        self.environment = environment
        self.bundleId = bundleId
        requestDate = receipt.lenientDate("request_date_ms")
        // A receipt of iOS 6 is one purchase itself, and so is what became of it since.
        let latest =
            object.objects("latest_receipt_info") ?? object.object("latest_receipt_info").map { [$0] } ?? []
        let held = receipt.objects("in_app") ?? [receipt]
        var purchases: [ReceiptAnswerPurchase] = []
        var seen: Set<String> = []
        for purchase in (latest + held).compactMap(ReceiptAnswerPurchase.init)
        where seen.insert(purchase.transactionId).inserted {
            purchases.append(purchase)
        }
        self.purchases = purchases
        renewals = (object.objects("pending_renewal_info") ?? []).compactMap(ReceiptAnswerRenewal.init)
    }

    /// A transaction id of each purchase, each once: to ask the Server API with.
    public var transactionIds: [String] {
        var seen: Set<String> = []
        return purchases.map(\.originalTransactionId).filter { seen.insert($0).inserted }
    }
}
