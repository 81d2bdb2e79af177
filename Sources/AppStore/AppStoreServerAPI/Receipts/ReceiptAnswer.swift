import AppStorePayloads
import AppStoreVerification
public import Base

/// verifyReceipt's answer with status 0: an environment's statement about a receipt, over TLS and not signed. It is
/// weaker than any record that Apple signed.
public struct ReceiptAnswer: Sendable, Hashable {
    /// The answer, byte for byte.
    public let json: [UInt8]
    /// The environment that answered.
    public let environment: Environment
    /// The app (`bundle_id`).
    public let bundleId: String
    /// When Apple looked (`request_date_ms`), or, where the answer does not say it, when Apple was asked.
    public let requestDate: Timestamp
    /// The purchases: those in the receipt, and for subscriptions all that Apple has now. Each transaction appears
    /// once, in its later version.
    public let purchases: [ReceiptAnswerPurchase]
    /// What is to come of each subscription (`pending_renewal_info`).
    public let renewals: [ReceiptAnswerRenewal]
    /// SHA-256 of what Apple read in the receipt, whenever it looked: of the members of `receipt` as it wrote them.
    package let reading: Fingerprint
    /// The same in pieces that can be kept and read again by themselves.
    public let extracts: [ReceiptExtract]

    /// Reads an answer.
    ///
    /// - Parameter askedAt: when Apple was asked. What the answer says was true then or later.
    /// - Throws: ``AnswerFault/unreadable(_:)``.
    init(_ json: [UInt8], from environment: Environment, askedAt: Timestamp) throws(AnswerFault) {
        guard let object = try? JSONDocument(json).object, let receipt = object.object("receipt") else {
            throw .unreadable("receipt is missing")
        }
        guard let bundleId = receipt.string("bundle_id") ?? receipt.string("bid") else {
            throw .unreadable("it does not say which app the receipt is of")
        }
        if let said = object.string("environment"), said != environment.rawValue {
            throw .unreadable("environment is not the one that was asked")
        }
        reading = Fingerprint(of: receipt.timeless)
        self.json = json
        self.environment = environment
        self.bundleId = bundleId
        let saidDate = receipt.lenientDate("request_date_ms")
        requestDate = saidDate ?? askedAt
        // A receipt of iOS 6 is one purchase itself, and so is what became of it since.
        let latest =
            object.objects("latest_receipt_info") ?? object.object("latest_receipt_info").map { [$0] } ?? []
        let held = receipt.objects("in_app") ?? [receipt]
        var bought: [(purchase: ReceiptAnswerPurchase, object: JSONObject)] = []
        var seen: Set<String> = []
        for object in latest + held {
            guard let purchase = ReceiptAnswerPurchase(object), seen.insert(purchase.transactionId).inserted else {
                continue
            }
            bought.append((purchase, object))
        }
        purchases = bought.map(\.purchase)
        let coming = (object.objects("pending_renewal_info") ?? []).compactMap { object in
            ReceiptAnswerRenewal(object).map { (renewal: $0, object: object) }
        }
        renewals = coming.map(\.renewal)
        let frame = ReceiptExtract.Frame(
            bundleId: bundleId, environment: environment, requestDate: requestDate, isDatedByApple: saidDate != nil)
        let periods = Self.latestPeriods(of: purchases)
        // Apple may list what is to come of each product that a subscription has had: one of them is the present one.
        let present = coming.filter { $0.renewal.productId == periods[$0.renewal.originalTransactionId]?.productId }
        var told: Set<String> = []
        let futures = (present + coming).filter { told.insert($0.renewal.originalTransactionId).inserted }
        extracts =
            bought.compactMap { ReceiptExtract(frame, purchase: $0.object) }
            + futures.compactMap {
                ReceiptExtract(
                    frame, renewal: $0.object, endsAt: periods[$0.renewal.originalTransactionId]?.expiresDate)
            }
    }

    /// The period of each subscription that was bought last.
    private static func latestPeriods(of purchases: [ReceiptAnswerPurchase]) -> [String: ReceiptAnswerPurchase] {
        let periods = purchases.filter { $0.expiresDate != nil }.sorted {
            ($0.purchaseDate ?? .distantPast, $0.transactionId) < ($1.purchaseDate ?? .distantPast, $1.transactionId)
        }
        return periods.reduce(into: [:]) { latest, period in latest[period.originalTransactionId] = period }
    }

    /// A transaction id of each purchase, each once: to ask the Server API with.
    public var transactionIds: [String] {
        var seen: Set<String> = []
        return purchases.map(\.originalTransactionId).filter { seen.insert($0).inserted }
    }
}
