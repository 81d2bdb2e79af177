package import Subscriptions

/// What stands in the transaction that takes things in, before it commits.
package struct IntakeTransaction: Sendable {
    /// All that was taken, duplicates included, in the order handed in. The purchases are locked.
    package var taken: [TakenEvidence]
    /// The purchases that changed: those of new evidence, and those that share a transaction with it. Locked as well.
    package var changed: [PurchaseKey]

    /// The purchases that were handed in, each once, whether anything changed or not.
    package var purchases: [PurchaseKey] { Set(taken.compactMap(\.purchase)).sorted() }

    /// The purchases with a transaction handed in, each once: a transaction proves that its sender holds the purchase.
    package var provenPurchases: [PurchaseKey] {
        Set(taken.filter { $0.transaction != nil }.compactMap(\.purchase)).sorted()
    }
}
