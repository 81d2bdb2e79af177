import AppStorePayloads
public import Base

/// The contents of an app receipt. Not to be trusted before verification; see ``VerifiedReceipt``.
public struct AppReceipt: Sendable, Hashable {
    /// Where the purchases were made, in a receipt's words (attribute 0): `Production`, `ProductionSandbox`, …
    public let receiptType: String?
    /// The app (2).
    public let bundleId: String?
    /// The app's version (3).
    public let applicationVersion: String?
    /// An input of the hash, beside the device's id (4).
    public let opaqueValue: [UInt8]?
    /// Ties the receipt to a device, which alone can check it (5).
    public let sha1Hash: [UInt8]?
    /// When Apple made it (12).
    public let creationDate: Timestamp?
    /// The app's version when it was bought (19).
    public let originalApplicationVersion: String?
    /// When it ends, for an app bought in volume (21).
    public let expirationDate: Timestamp?
    /// The purchases, in the receipt's order (17).
    public let purchases: [ReceiptPurchase]

    /// Reads what a container signs.
    ///
    /// - Throws: ``ReceiptFault``.
    init(_ content: [UInt8]) throws(ReceiptFault) {
        let attributes = try ReceiptAttributes(content)
        receiptType = attributes.text(0)
        bundleId = attributes.text(2)
        applicationVersion = attributes.text(3)
        opaqueValue = attributes.first(4)
        sha1Hash = attributes.first(5)
        creationDate = attributes.date(12)
        originalApplicationVersion = attributes.text(19)
        expirationDate = attributes.date(21)
        var purchases: [ReceiptPurchase] = []
        for value in attributes.all(17) {
            guard let attributes = try? ReceiptAttributes(value) else { continue }
            purchases.append(ReceiptPurchase(attributes))
        }
        self.purchases = purchases
    }

    /// The environment of the receipt's type; nil for an unknown type.
    public var environment: Environment? {
        switch receiptType {
        case "Production", "ProductionVPP": .production
        case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
        case "Xcode": .xcode
        case "LocalTesting": .localTesting
        default: nil
        }
    }

    /// A transaction id of each purchase, in the receipt's order, without repeats: for requests to Apple, and for
    /// nothing else. The original transaction's, or the transaction's own where the original's is empty or not an id.
    public var transactionIds: [String] {
        var seen: Set<String> = []
        return purchases.compactMap { purchase in
            let ids = [purchase.originalTransactionId, purchase.transactionId].compactMap(\.self)
            guard let id = ids.first(where: Receipt.isTransactionId), seen.insert(id).inserted else { return nil }
            return id
        }
    }
}
