import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
package import Base
package import EvidenceStore
package import Subscriptions

/// A proven receipt, what Apple says of its purchases, and what is to be stored of that.
package struct ReceiptFinding: Sendable {
    /// A transaction that the receipt lists, or Apple in its answers about it.
    struct Sold: Sendable, Hashable {
        var transactionID: String
        var originalTransactionID: String
        var productID: String?
        var purchasedAt: Timestamp?
        /// Whether it is a period of a subscription: each is followed by another, and what is bought once stays what it is.
        var isPeriod = false
    }

    /// What proves it.
    package let proof: ReceiptIntake.Proof
    /// The app, and where the purchases were made.
    package let scope: AppEnvironment
    /// The purchases that the holder of the receipt holds, each once, in its order.
    package let purchases: [PurchaseKey]
    /// The receipt, as it came.
    package let receipt: Evidence
    /// Its identity: SHA-256 of the signed part alone.
    package let identity: Fingerprint
    /// verifyReceipt's answer, where it was asked.
    package let answer: Evidence?
    /// What that says, where it is what state is derived from.
    package let words: [UnsignedReceiptClaim]
    /// What the Server API answered and signed, as far as it says something new.
    package internal(set) var records: [Evidence] = []
    /// Whether Apple was asked about the purchases: it cannot be where neither a key nor a shared secret is set for the app.
    package internal(set) var isAsked = false
    /// The purchases for which Apple gave no answer now and less is held than the receipt says.
    package internal(set) var unanswered: Set<PurchaseKey> = []
    /// The purchases that Apple does not know, and had time to learn of.
    package internal(set) var unknown: Set<PurchaseKey> = []
    /// What went wrong with asking, in one line.
    package internal(set) var trouble: String?

    private let sold: [String: Sold]

    /// What was found.
    /// - Parameter answered: the transactions that the Server API answered.
    init(_ examined: ExaminedReceipt, _ proof: ReceiptIntake.Proof, _ answered: [TransactionPayload] = []) {
        self.proof = proof
        receipt = examined.evidence[0]
        identity = examined.identity
        answer = examined.evidence.dropFirst().first
        words = examined.words
        trouble = examined.report.trouble
        scope = AppEnvironment(bundleID: examined.report.bundleID, environment: proof.environment.rawValue)
        var sold: [String: Sold] = [:]
        // What is read here counts where the signature says so; where Apple alone vouches, what Apple has read.
        if case .signature(let receipt) = proof {
            for purchase in receipt.contents.purchases.compactMap({ Sold($0) }) {
                sold[purchase.transactionID] = purchase
            }
        }
        for purchase in examined.answer?.purchases ?? [] { sold[purchase.transactionId] = Sold(purchase) }
        for transaction in answered { sold[transaction.transactionId] = Sold(transaction) }
        self.sold = sold
        purchases = Self.purchases(of: examined.report.transactionIDs, in: scope, sold)
    }

    /// The purchases to which transactions belong, each once.
    func purchases(of transactionIDs: [String]) -> [PurchaseKey] {
        Self.purchases(of: transactionIDs, in: scope, sold)
    }

    /// The proven purchases that a transaction and a product name; all of them where neither is named, none where they name
    /// something else.
    package func purchases(withTransaction transactionID: String?, product: String?) -> [PurchaseKey] {
        guard transactionID != nil || product != nil else { return purchases }
        let named = sold.values.filter {
            (transactionID == nil || $0.transactionID == transactionID || $0.originalTransactionID == transactionID)
                && (product == nil || $0.productID == product)
        }
        let originals = Set(named.map(\.originalTransactionID))
        return purchases.filter { originals.contains($0.originalTransactionID) }
    }

    /// Whether a purchase was made so lately that Apple's servers may still have to learn of it.
    func isFresh(_ purchase: PurchaseKey, at now: Timestamp) -> Bool {
        transactions(of: purchase).contains { $0.purchasedAt.map { now < $0.adding(seconds: Self.fresh) } ?? false }
    }

    /// Apple speaks of lagging and names no number; seconds are usual. In seconds.
    private static let fresh: Int64 = 3600

    /// When the last period of a subscription was bought, of those known here; nil where none is, or nothing says when.
    func lastPeriod(of purchase: PurchaseKey) -> Timestamp? {
        transactions(of: purchase).filter(\.isPeriod).compactMap(\.purchasedAt).max()
    }

    /// When a purchase was made; nil where its first transaction is not listed. Apple may have charged a later one of a subscription
    /// ahead of its period.
    package func begins(_ purchase: PurchaseKey) -> Timestamp? {
        let first = sold[purchase.originalTransactionID]
        return first?.originalTransactionID == purchase.originalTransactionID ? first?.purchasedAt : nil
    }

    /// When the last of its transactions begins; nil where nothing says when.
    package func lastBegins(_ purchase: PurchaseKey) -> Timestamp? {
        transactions(of: purchase).compactMap(\.purchasedAt).max()
    }

    /// Whether any transaction here shows that a purchase is a subscription.
    package func isSubscription(_ purchase: PurchaseKey) -> Bool {
        transactions(of: purchase).contains(where: \.isPeriod)
    }

    /// The product of a purchase that was bought last; nil where nothing says it.
    package func product(of purchase: PurchaseKey) -> String? {
        transactions(of: purchase).filter { $0.productID != nil }
            .max {
                ($0.purchasedAt ?? .distantPast, $0.transactionID) < ($1.purchasedAt ?? .distantPast, $1.transactionID)
            }?.productID
    }

    private func transactions(of purchase: PurchaseKey) -> [Sold] {
        sold.values.filter { $0.originalTransactionID == purchase.originalTransactionID }
    }

    private static func purchases(
        of transactionIDs: [String], in scope: AppEnvironment, _ sold: [String: Sold]
    ) -> [PurchaseKey] {
        var seen: Set<PurchaseKey> = []
        return transactionIDs.map { id in
            PurchaseKey(
                environment: scope.environment, bundleID: scope.bundleID,
                originalTransactionID: sold[id]?.originalTransactionID ?? id)
        }.filter { seen.insert($0).inserted }
    }
}

extension ReceiptFinding.Sold {
    fileprivate init?(_ purchase: ReceiptPurchase) {
        let original = [purchase.originalTransactionId, purchase.transactionId].compactMap(\.self).first { !$0.isEmpty }
        guard let original else { return nil }
        let own = purchase.transactionId ?? ""
        self.init(
            transactionID: own.isEmpty ? original : own, originalTransactionID: original,
            productID: purchase.productId, purchasedAt: purchase.purchaseDate, isPeriod: purchase.expiresDate != nil)
    }

    fileprivate init(_ purchase: ReceiptAnswerPurchase) {
        self.init(
            transactionID: purchase.transactionId, originalTransactionID: purchase.originalTransactionId,
            productID: purchase.productId, purchasedAt: purchase.purchaseDate, isPeriod: purchase.expiresDate != nil)
    }

    fileprivate init(_ transaction: TransactionPayload) {
        self.init(
            transactionID: transaction.transactionId, originalTransactionID: transaction.originalTransactionId,
            productID: transaction.productId, purchasedAt: transaction.purchaseDate,
            isPeriod: transaction.expiresDate != nil)
    }
}
