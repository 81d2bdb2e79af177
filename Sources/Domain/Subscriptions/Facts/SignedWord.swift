import AppStorePayloads

/// Of what Apple's signed word is known of one purchase: there what it only said counts for nothing, whatever the dates.
///
/// Not even as what was true until the signed word came: that was never Apple's word.
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

    /// Whether a record counts: a copy of the same period under another transactionId is the same thing, and so are all copies of
    /// what was bought once.
    func letsCount(_ fact: TransactionFact) -> Bool {
        guard fact.isUnsigned else { return true }
        if transactions.contains(fact.transactionID) || periods.contains(fact.periodKey) { return false }
        return !(isOfSomethingBoughtOnce && OneTimePurchase.Kind(fact) != nil)
    }

    /// Whether renewal info counts.
    func letsCount(_ fact: RenewalFact) -> Bool { !(fact.isUnsigned && isOfRenewal) }
}

extension PurchaseFacts {
    /// Those of the facts that count.
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
