import AppStorePayloads

/// What Apple has signed about one purchase. Unsigned records about any of it do not count, whatever their dates, and
/// not even for the time before Apple signed something.
struct SignedWord {
    private var transactions: Set<String> = []
    private var periods: Set<String> = []
    private var isOfSomethingBoughtOnce = false
    private var isOfRenewal = false

    init(_ facts: PurchaseFacts) {
        for fact in facts.transactions where !fact.isUnsigned {
            transactions.insert(fact.transactionID)
            periods.insert(fact.periodKey)
            if OneTimePurchase.Kind(fact) != nil { isOfSomethingBoughtOnce = true }
        }
        isOfRenewal = facts.renewals.contains { !$0.isUnsigned }
    }

    /// Whether a record counts. Copies of one period under other transactionIds are the same thing, and so are all
    /// copies of a one-time purchase.
    func letsCount(_ fact: TransactionFact) -> Bool {
        guard fact.isUnsigned else { return true }
        if transactions.contains(fact.transactionID) || periods.contains(fact.periodKey) { return false }
        return !(isOfSomethingBoughtOnce && OneTimePurchase.Kind(fact) != nil)
    }

    /// Whether renewal info counts.
    func letsCount(_ fact: RenewalFact) -> Bool { !(fact.isUnsigned && isOfRenewal) }
}

extension PurchaseFacts {
    /// The facts that count.
    var counting: PurchaseFacts {
        guard hasUnsigned else { return self }
        let signed = SignedWord(self)
        return filtered {
            signed.letsCount($0)
        } and: {
            signed.letsCount($0)
        }
    }
}
