import AppStorePayloads
import Base

/// What Apple has signed about one purchase. Unsigned records about any of it do not count, whatever their dates, and
/// not even for the time before Apple signed something.
struct SignedWord {
    private var transactions: Set<String> = []
    private var periods: Set<String> = []
    private var isOfSomethingBoughtOnce = false
    /// The end of the latest period that signed renewal info speaks of; nil where there is none. What does not name a
    /// period may speak of any.
    private var renewalsReach: Timestamp?

    init(_ facts: PurchaseFacts) {
        for fact in facts.transactions where !fact.isUnsigned {
            transactions.insert(fact.transactionID)
            periods.insert(fact.periodKey)
            if OneTimePurchase.Kind(fact) != nil { isOfSomethingBoughtOnce = true }
        }
        renewalsReach = facts.renewals.lazy.filter { !$0.isUnsigned }.map { $0.renewsAt ?? .distantFuture }.max()
    }

    /// Whether a record counts. Copies of one period under other transactionIds are the same thing, and so are all
    /// copies of a one-time purchase.
    func letsCount(_ fact: TransactionFact) -> Bool {
        guard fact.isUnsigned else { return true }
        if transactions.contains(fact.transactionID) || periods.contains(fact.periodKey) { return false }
        return !(isOfSomethingBoughtOnce && OneTimePurchase.Kind(fact) != nil)
    }

    /// Whether renewal info counts. What is unsigned does where it speaks of a later period than all that is signed:
    /// the signed renewal info of that period was lost.
    func letsCount(_ fact: RenewalFact) -> Bool {
        guard fact.isUnsigned, let renewalsReach else { return true }
        return fact.renewsAt.map { renewalsReach < $0 } ?? false
    }
}

extension PurchaseFacts {
    /// The facts that count.
    var counting: PurchaseFacts {
        guard rarities.contains(.unsigned) else { return self }
        let signed = SignedWord(self)
        return filtered {
            signed.letsCount($0)
        } and: {
            signed.letsCount($0)
        }
    }
}
