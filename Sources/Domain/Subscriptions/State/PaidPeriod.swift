public import AppStorePayloads
public import Base

/// A period of a subscription that was paid for or given, by its latest-signed record. Events report each period, and
/// each refund of one, once.
public struct PaidPeriod: FamilySharable, Sendable, Hashable {
    /// What all records of the period have in common.
    public var key: String
    /// The transaction of that record.
    public var transactionID: String
    /// The product.
    public var productID: String?
    /// `PURCHASED` or `FAMILY_SHARED`, as Apple spells it.
    public var ownership: String?
    /// Its first instant.
    public var startsAt: Timestamp
    /// Its end by its own record.
    public var expiresAt: Timestamp
    /// From when on it counts as paid: Apple charges up to a day ahead.
    public var chargedAt: Timestamp
    /// Whether it was renewed rather than purchased.
    public var isRenewal: Bool
    /// Whether it is the introductory free trial.
    public var isFreeTrial: Bool
    /// When it was taken back; nil while it stands.
    public var revokedAt: Timestamp?
    /// How much of it was taken back, in thousandths of a percent: 0 while it stands.
    public var revokedShare: Int64
    /// Why Apple took it back; nil while it stands, and where Apple does not say.
    public var revokedReason: RevocationReason?
    /// From when on it counts for nothing: it was charged ahead, and another plan was bought before it began. Nil for nearly
    /// all.
    public var replacedAt: Timestamp?
    /// Whether it is one of several transactions of one period: seats that were added, or a purchase that was split.
    public var isPart: Bool
    /// From when on its record counts where that has no date of its own, as the reversal of a refund.
    public var asOf: Timestamp

    /// Memberwise.
    public init(
        key: String, transactionID: String, productID: String? = nil, ownership: String? = nil, startsAt: Timestamp,
        expiresAt: Timestamp, chargedAt: Timestamp? = nil, isRenewal: Bool = false, isFreeTrial: Bool = false,
        revokedAt: Timestamp? = nil, revokedShare: Int64 = 0, revokedReason: RevocationReason? = nil,
        replacedAt: Timestamp? = nil, isPart: Bool = false, asOf: Timestamp? = nil
    ) {
        self.key = key
        self.transactionID = transactionID
        self.productID = productID
        self.ownership = ownership
        self.startsAt = startsAt
        self.expiresAt = expiresAt
        self.chargedAt = chargedAt ?? startsAt
        self.isRenewal = isRenewal
        self.isFreeTrial = isFreeTrial
        self.revokedAt = revokedAt
        self.revokedShare = revokedShare
        self.revokedReason = revokedReason
        self.replacedAt = replacedAt
        self.isPart = isPart
        self.asOf = asOf ?? startsAt
    }

    /// The periods that the facts name, in order.
    public static func all(of facts: PurchaseFacts) -> [PaidPeriod] {
        Period.all(of: facts.counting).map { PaidPeriod($0) }
    }
}

extension PaidPeriod {
    init(_ period: Period) {
        let record = period.record
        self.init(
            key: period.key, transactionID: record.transactionID, productID: record.productID,
            ownership: record.ownership, startsAt: period.start, expiresAt: period.expiresAt,
            chargedAt: period.chargedAt, isRenewal: record.isRenewal, isFreeTrial: record.isFreeTrial,
            revokedAt: record.revokedAt,
            revokedShare: record.revokedAt == nil ? 0 : record.revocationPercentage ?? OneTimePurchase.whole,
            revokedReason: record.revokedAt == nil ? nil : record.revocationReason, replacedAt: period.replacedAt,
            isPart: period.isPart, asOf: record.asOf)
    }
}

extension PaidPeriod {
    /// The renewals that the facts know of and that never begin.
    /// - Parameter cut: facts about periods that began earlier are left out; nil for none.
    package static func neverBegun(by facts: PurchaseFacts, cutAt cut: Timestamp?) -> [PaidPeriod] {
        // Mostly there is one product, and nothing to look for.
        guard let first = facts.transactions.first,
            facts.transactions.contains(where: { $0.productID != first.productID })
                || facts.renewals.contains(where: { $0.productID != first.productID })
        else { return [] }
        var kept = facts
        if let cut { kept.cut(at: cut) }
        return Period.all(of: kept.counting).filter { $0.replacedAt != nil }.map { PaidPeriod($0) }
    }
}

/// The periods of a subscription that new records may have changed.
public struct TouchedPeriods: Sendable {
    /// As they are now.
    let now: [Period]
    /// As they were before the records.
    let before: [Period]

    /// For reports: the values of now.
    public var paidNow: [PaidPeriod] { now.map { PaidPeriod($0) } }
    /// For reports: the values before the records.
    public var paidBefore: [PaidPeriod] { before.map { PaidPeriod($0) } }
}

extension PurchaseState {
    /// The renewals that were charged ahead and never begin, each transaction once.
    package var neverBegun: [PaidPeriod] {
        var renewals: [PaidPeriod] = []
        for period in rules.periods where period.replacedAt != nil {
            // One record has its line item, and another has not.
            if renewals.contains(where: { $0.transactionID == period.record.transactionID }) { continue }
            renewals.append(PaidPeriod(period))
        }
        return renewals
    }

    /// The subscription's periods, in order, as far as the facts reach back.
    public var paidPeriods: [PaidPeriod] { rules.periods.map { PaidPeriod($0) } }

    /// The periods that new records may have changed, by the facts now and by the facts before. All others are as they
    /// were, and a subscription of years has a hundred of them.
    /// - Parameters:
    ///   - records: what was taken in.
    ///   - known: the facts before.
    public func touchedPeriods(after records: [TransactionFact], upon known: PurchaseFacts) -> TouchedPeriods {
        // What is signed decides which unsigned records count, whatever period they are of. So do the parts of a period, and
        // what was bought after a renewal was charged: a record of any period may show that a renewal never begins, or that it does.
        if !known.rarities.isDisjoint(with: [.unsigned, .parts, .upgradedRenewals])
            || rules.periods.contains(where: { $0.replacedAt != nil })
            || records.contains(where: { $0.isUnsigned || $0.additionalReason != nil })
            || !PaidPeriod.neverBegun(by: known, cutAt: nil).isEmpty
        {
            return TouchedPeriods(now: rules.periods, before: Period.all(of: known.counting))
        }
        let before = records.indices.compactMap { place -> Period? in
            let record = records[place]
            guard !records[..<place].contains(where: record.isOfSamePeriod) else { return nil }
            return Period(known.transactions.filter(record.isOfSamePeriod))
        }
        let now = rules.periods.filter { period in records.contains { $0.isOfSamePeriod(as: period.record) } }
        return TouchedPeriods(now: now, before: before)
    }
}

extension TransactionFact {
    /// Whether the two have one ``periodKey``.
    fileprivate func isOfSamePeriod(as other: TransactionFact) -> Bool {
        webOrderLineItemID == other.webOrderLineItemID
            && (webOrderLineItemID != nil || transactionID == other.transactionID)
    }
}
