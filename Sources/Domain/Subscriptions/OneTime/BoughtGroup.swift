import AppStorePayloads
import Base

/// What was paid for once: a transaction and its copies.
struct BoughtGroup {
    /// A stretch of time in which it was refunded; open where the refund stands.
    struct Refund {
        let from: Timestamp
        let until: Timestamp?
        /// How much was taken back, in thousandths of a percent.
        let share: Int64
        var reason: RevocationReason?
    }

    /// When it was bought.
    let start: Timestamp
    /// What is dated earlier is another group's: a copy may carry the refund of what was bought before.
    private let floor: Timestamp
    private(set) var members: [BoughtTransactions.Bought]

    init(_ first: BoughtTransactions.Bought, isFirst: Bool) {
        start = first.purchasedAt
        floor = isFirst ? .distantPast : first.purchasedAt
        members = [first]
    }

    mutating func add(_ member: BoughtTransactions.Bought) { members.append(member) }

    /// Whether a transaction is of the same paid item as one of these.
    func hasItem(of record: TransactionFact) -> Bool {
        record.webOrderLineItemID != nil
            && members.contains { $0.record.webOrderLineItemID == record.webOrderLineItemID }
    }

    /// The refunds of any of them, in order.
    var refunds: [Refund] { Self.refunds(of: members).filter { $0.from > floor || floor == .distantPast } }

    /// The refunds of any of these, in order. The reversal of one takes back the refunds of its copies: Apple may report
    /// it about one alone, and sign the copies as they were. It takes back no refund that the same one reports after it,
    /// even one that is dated before it.
    static func refunds(of members: [BoughtTransactions.Bought]) -> [Refund] {
        let reversals = members.enumerated().flatMap { place, member in
            member.reversed.map { (place, $0.until) }
        }
        let all = members.enumerated().flatMap { place, member -> [Refund] in
            var refunds = member.reversed.map { Refund(from: $0.from, until: $0.until, share: 0) }
            for from in member.revocations.sorted() {
                let until = reversals.lazy
                    .filter { $0.0 != place && from < $0.1 && !members[$0.0].revocations.contains(from) }.map(\.1).min()
                refunds.append(
                    Refund(
                        from: from, until: until,
                        share: member.record.revocationPercentage ?? OneTimePurchase.whole,
                        reason: member.record.revocationReason))
                if until == nil { break }
            }
            return refunds
        }
        return all.sorted { $0.from < $1.from }
    }

    /// What was paid. Copies that restores made say the price again.
    var sale: OneTimePurchase.Sale {
        let paid = members.filter { !$0.record.isFamilyShared }
        let candidates = paid.isEmpty ? members : paid
        let record = (candidates.first { $0.record.isPricedNonConsumable } ?? candidates[0]).record
        let standing = refunds.filter { $0.until == nil }
        return OneTimePurchase.Sale(
            transactionID: record.transactionID, purchasedAt: record.purchasedAt ?? start,
            quantity: record.quantity ?? 1, revokedAt: standing.first?.from,
            revokedShare: standing.map(\.share).max() ?? 0, revokedReason: standing.lazy.compactMap(\.reason).first)
    }
}

extension BoughtTransactions {
    /// By how much Apple's dates of one purchase may differ, in seconds.
    private static let slackSeconds: Int64 = 60

    /// What was paid for, each with its copies, and the transactions that may be paid for or copies.
    var grouped: (groups: [BoughtGroup], unclear: [TransactionFact]) {
        switch kind {
        case .consumable: (credits, [])
        case .nonRenewing: (all.dropFirst().reduce(into: [BoughtGroup(all[0], isFirst: true)]) { $0[0].add($1) }, [])
        case .nonConsumable: purchases
        }
    }

    /// Each transaction of a consumable is a credit; several of one paid item are one.
    private var credits: [BoughtGroup] {
        all.reduce(into: []) { groups, bought in
            if let place = groups.firstIndex(where: { $0.hasItem(of: bought.record) }) {
                groups[place].add(bought)
            } else {
                groups.append(BoughtGroup(bought, isFirst: true))
            }
        }
    }

    /// A non-consumable is bought again under the same originalTransactionId only after a refund; what else there is are
    /// copies.
    private var purchases: (groups: [BoughtGroup], unclear: [TransactionFact]) {
        var groups = [BoughtGroup(all[0], isFirst: true)]
        var unclear: [TransactionFact] = []
        let isRefunded = all.contains { !$0.refunds.isEmpty }
        for (place, bought) in all.enumerated().dropFirst() {
            let current = groups[groups.count - 1]
            // Those in force when it was bought: what was given back again is not bought a second time.
            let refunds =
                !isRefunded
                ? []
                : BoughtGroup.refunds(of: Array(all[..<place] + all[(place + 1)...]))
                    .filter { refund in refund.until.map { bought.purchasedAt < $0 } ?? true }.map(\.from)
                    .filter { groups.count == 1 || current.start < $0 }
            switch Self.origin(of: bought, after: current, refunds: refunds) {
            case .purchase: groups.append(BoughtGroup(bought, isFirst: false))
            case .unclear:
                unclear.append(bought.record)
                groups[groups.count - 1].add(bought)
            case .copy: groups[Self.source(of: bought, among: groups)].add(bought)
            }
        }
        return (groups, unclear)
    }

    private enum Origin { case purchase, copy, unclear }

    /// Where a transaction comes from that is dated after another of the same non-consumable. It is a purchase of its own
    /// where the following holds; in doubt it counts as a copy, and Apple is asked:
    /// - It was bought, signed, and first bought by its own word, after a refund of what was there.
    /// - It does not carry that refund, and is of no item that is known.
    /// - It has a price.
    private static func origin(
        of bought: Bought, after current: BoughtGroup, refunds: [Timestamp]
    ) -> Origin {
        let record = bought.record
        guard refunds.contains(where: record.isDated(after:)), !current.hasItem(of: record),
            bought.refunds.allSatisfy({ $0 > bought.purchasedAt })
        else { return .copy }
        return record.originalPurchasedAt == nil || record.price == nil ? .unclear : .purchase
    }

    /// The purchase that a copy was made of: of its item, else the last that was made by the date that it gives.
    private static func source(of bought: Bought, among groups: [BoughtGroup]) -> Int {
        if let place = groups.firstIndex(where: { $0.hasItem(of: bought.record) }) { return place }
        guard let first = bought.record.originalPurchasedAt else { return groups.count - 1 }
        return groups.lastIndex { $0.start <= first.adding(seconds: slackSeconds) } ?? 0
    }
}
