import AppStorePayloads
public import Base

/// All records of one purchase, signed and unsigned: three growing sets, in the order of signing.
///
/// Nothing is ever removed. A superseded record states what was true until its successor was signed: a refund that was
/// later reversed, or auto-renew that was off for a while.
public struct PurchaseFacts: Sendable, Hashable {
    /// Every record of every transaction, by (signedAt, digest, transactionId).
    public private(set) var transactions: [TransactionFact] = []
    /// Every renewal info, by (signedAt, digest).
    public private(set) var renewals: [RenewalFact] = []
    /// Every status that Apple reported and this release knows, by (signedAt, status).
    public private(set) var reportedStatuses: [ReportedStatus] = []
    /// What is rare and occurs among them. It is noted as facts are added: to look for it at each derivation would cost more.
    private(set) var rarities: Rarities = []

    /// Properties that few facts have.
    struct Rarities: OptionSet, Hashable {
        let rawValue: UInt8

        /// A record without a signature.
        static let unsigned = Rarities(rawValue: 1)
        /// A transaction with a reason why it stands beside others of its period.
        static let parts = Rarities(rawValue: 2)
        /// A renewal that an upgrade replaced, by Apple's word: perhaps it never began.
        static let upgradedRenewals = Rarities(rawValue: 4)
        /// A transaction of something bought once.
        static let boughtOnce = Rarities(rawValue: 8)
    }

    /// Facts known so far; none by default.
    public init(
        transactions: some Sequence<TransactionFact> = [], renewals: some Sequence<RenewalFact> = [],
        reportedStatuses: some Sequence<ReportedStatus> = []
    ) {
        for transaction in transactions { merge(transaction) }
        for renewal in renewals { merge(renewal) }
        for reportedStatus in reportedStatuses { merge(reportedStatus) }
    }

    /// Whether there are no facts.
    public var isEmpty: Bool { transactions.isEmpty && renewals.isEmpty && reportedStatuses.isEmpty }

    /// The latest signature among the facts; nil where there are none.
    public var asOf: Timestamp? {
        [transactions.last?.signedAt, renewals.last?.signedAt, reportedStatuses.last?.signedAt].compactMap(\.self).max()
    }

    /// Adds a record; returns whether it was new.
    @discardableResult
    public mutating func merge(_ fact: TransactionFact) -> Bool {
        let index = transactions.insertionIndex { $0.sorts(before: fact) }
        if index < transactions.count, transactions[index].isSameRecord(fact),
            transactions[index].transactionID == fact.transactionID
        {
            // One record out of two notifications counts from the earlier one on.
            transactions[index].asOf = min(transactions[index].asOf, fact.asOf)
            // An older program kept less of it.
            if transactions[index].reason == .unknown { transactions[index].reason = fact.reason }
            if transactions[index].additionalReason == nil {
                transactions[index].additionalReason = fact.additionalReason
            }
            if let reason = fact.revocationReason { transactions[index].revocationReason = reason }
            if let date = fact.originalPurchasedAt { transactions[index].originalPurchasedAt = date }
            if let price = fact.price { transactions[index].price = price }
            if let currency = fact.currency { transactions[index].currency = currency }
            if let storefront = fact.storefront { transactions[index].storefront = storefront }
            if let type = fact.revocationType { transactions[index].revocationType = type }
            if let period = fact.upFrontPeriod { transactions[index].upFrontPeriod = period }
            if let plan = fact.billingPlan { transactions[index].billingPlan = plan }
            rarities.formUnion(Rarities(transactions[index]))
            return false
        }
        transactions.insert(fact, at: index)
        rarities.formUnion(Rarities(fact))
        return true
    }

    /// Adds a record; returns whether it was new.
    @discardableResult
    public mutating func merge(_ fact: RenewalFact) -> Bool {
        let index = renewals.insertionIndex { fact.isLater(than: $0) }
        if index < renewals.count, renewals[index].isSameRecord(fact) {
            let known = renewals[index]
            renewals[index].asOf = min(known.asOf, fact.asOf)
            // Two notifications with one record report one status; if they do not, the smaller one is
            // taken in any order.
            renewals[index].reportedStatus = [known.reportedStatus, fact.reportedStatus].compactMap(\.self).min()
            return renewals[index] != known
        }
        renewals.insert(fact, at: index)
        rarities.formUnion(Rarities(fact))
        return true
    }

    /// Adds a reported status; returns whether it was new. One that this release does not know is left out.
    @discardableResult
    public mutating func merge(_ new: ReportedStatus) -> Bool {
        guard ReportedStatus.isKnown(new.status) else { return false }
        let index = reportedStatuses.insertionIndex { $0 < new }
        if index < reportedStatuses.count, reportedStatuses[index] == new { return false }
        reportedStatuses.insert(new, at: index)
        return true
    }

    /// Removes facts about periods that began before an instant. See ``PurchaseState/mayBeCut(_:at:from:)``.
    public mutating func cut(at instant: Timestamp) {
        transactions.removeAll { $0.purchasedAt.map { $0 < instant } ?? false }
        lookForRarities()
    }

    private mutating func lookForRarities() {
        guard !rarities.isEmpty else { return }
        rarities = []
        for fact in transactions { rarities.formUnion(Rarities(fact)) }
        for fact in renewals { rarities.formUnion(Rarities(fact)) }
    }

    /// Some of the facts.
    func filtered(
        _ isIncluded: (TransactionFact) -> Bool, and isRenewalIncluded: (RenewalFact) -> Bool
    ) -> PurchaseFacts {
        var facts = self
        facts.transactions.removeAll { !isIncluded($0) }
        facts.renewals.removeAll { !isRenewalIncluded($0) }
        facts.lookForRarities()
        return facts
    }

    /// The facts that counted by an instant.
    public func known(at instant: Timestamp) -> PurchaseFacts {
        var known = self
        known.transactions.removeAll { $0.asOf > instant }
        known.renewals.removeAll { $0.asOf > instant }
        known.reportedStatuses.removeAll { $0.asOf > instant }
        known.lookForRarities()
        return known
    }
}

extension TransactionFact {
    fileprivate func sorts(before other: TransactionFact) -> Bool {
        if signedAt != other.signedAt { return signedAt < other.signedAt }
        if digest != other.digest { return digest.lexicographicallyPrecedes(other.digest) }
        return transactionID < other.transactionID
    }
}

extension Array {
    /// Where an element belongs that comes after those for which `isBefore` holds. New facts mostly come last, so the
    /// end is checked first.
    fileprivate func insertionIndex(_ isBefore: (Element) -> Bool) -> Int {
        if let last, isBefore(last) { return count }
        return partitioningIndex { !isBefore($0) }
    }

    /// The first index from which on `condition` holds, by binary search: it must be false before it, and
    /// true ever after.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension PurchaseFacts.Rarities {
    fileprivate init(_ fact: TransactionFact) {
        self = []
        if fact.isUnsigned { insert(.unsigned) }
        if fact.additionalReason != nil { insert(.parts) }
        if fact.isRenewal, fact.isUpgraded { insert(.upgradedRenewals) }
        if OneTimePurchase.Kind(fact) != nil { insert(.boughtOnce) }
    }

    fileprivate init(_ fact: RenewalFact) { self = fact.isUnsigned ? .unsigned : [] }
}
