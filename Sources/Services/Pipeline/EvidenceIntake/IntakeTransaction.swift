package import Subscriptions

/// What stands in the transaction that takes things in, before it commits.
package struct IntakeTransaction: Sendable {
    /// All that was taken, duplicates included, in the order handed in. The purchases are locked.
    package var taken: [TakenEvidence]
    /// The purchases of which something changed: of what was new, and of what shares a transaction with it. Locked as well.
    package var changed: [PurchaseKey]

    /// The purchases that were handed in, each once, whether anything changed or not.
    package var purchases: [PurchaseKey] { Set(taken.compactMap(\.purchase)).sorted() }

    /// Those of which a transaction was handed in, each once: whoever has one holds the purchase.
    package var provenPurchases: [PurchaseKey] {
        Set(taken.filter { $0.transaction != nil }.compactMap(\.purchase)).sorted()
    }
}
