import AppStorePayloads
import Base

/// The transactions of something bought once, each with what its records say of refunds, and which of them were paid for.
struct BoughtTransactions {
    /// A transaction of a one-time purchase.
    struct Bought {
        /// Its latest-signed record.
        private(set) var record: TransactionFact
        /// All of its records, in the order of signing.
        private(set) var records: [TransactionFact]
        /// When it was bought, by that record.
        private(set) var purchasedAt: Timestamp
        /// The refund dates of its records, back to the last record that took a refund back; none while the purchase stands.
        /// There may be several: a later date does not take back that it was refunded by an earlier one.
        private(set) var revocations: [Timestamp] = []
        /// Refunds that a later-signed record of it took back: from the refund until that record counts.
        private(set) var reversed: [OneTimePurchase.Gap] = []

        init(_ record: TransactionFact, _ purchasedAt: Timestamp) {
            self.record = record
            records = [record]
            self.purchasedAt = purchasedAt
            if let from = record.revokedAt { revocations.append(from) }
        }

        /// Takes the next record in the order of signing.
        mutating func take(_ next: TransactionFact) {
            if let from = next.revokedAt {
                if !revocations.contains(from) { revocations.append(from) }
            } else {
                if let from = revocations.min(), from < next.asOf {
                    reversed.append(OneTimePurchase.Gap(from: from, until: next.asOf))
                }
                revocations = []
            }
            record = next
            records.append(next)
            purchasedAt = next.purchasedAt ?? purchasedAt
        }

        /// Every refund of it, reversed ones included.
        var refunds: [Timestamp] { reversed.map(\.from) + revocations }
    }

    /// In order of (purchase, transactionId); never empty.
    let all: [Bought]
    /// The latest-signed record of all.
    let record: TransactionFact
    /// What was bought, by that record.
    let kind: OneTimePurchase.Kind
    /// What was paid for, each with its copies.
    private(set) var groups: [BoughtGroup] = []
    /// Transactions that may be purchases of their own or copies of what was refunded. They count as copies.
    private(set) var unclear: [TransactionFact] = []
    /// The account that the latest-signed record with one names.
    let account: UniqueIdentifier?
    /// The accounts before that one.
    let earlierAccounts: [OneTimePurchase.EarlierAccount]
    /// The latest end that Apple names.
    let expiresAt: Timestamp?

    /// Nil where there are none.
    init?(_ facts: PurchaseFacts) {
        guard facts.rarities.contains(.boughtOnce) else { return nil }
        var transactions: [String: Bought] = [:]
        var account: UniqueIdentifier?
        var earlierAccounts: [OneTimePurchase.EarlierAccount] = []
        for fact in facts.transactions {
            guard OneTimePurchase.Kind(fact) != nil, let purchasedAt = fact.purchasedAt else { continue }
            if transactions[fact.transactionID] == nil {
                transactions[fact.transactionID] = Bought(fact, purchasedAt)
            } else {
                transactions[fact.transactionID]?.take(fact)
            }
            guard let named = fact.appAccountToken, named != account else { continue }
            if let account { earlierAccounts.append(.init(account, until: fact.asOf)) }
            account = named
        }
        let signed = transactions.values.map(\.record).sorted {
            ($0.signedAt, $0.transactionID) < ($1.signedAt, $1.transactionID)
        }
        guard let record = signed.last, let kind = OneTimePurchase.Kind(record) else { return nil }
        (self.record, self.kind) = (record, kind)
        all = transactions.values.sorted {
            ($0.purchasedAt, $0.record.transactionID) < ($1.purchasedAt, $1.record.transactionID)
        }
        self.account = account
        self.earlierAccounts = earlierAccounts
        expiresAt = signed.compactMap(\.expiresAt).max()
        (groups, unclear) = grouped
    }
}
