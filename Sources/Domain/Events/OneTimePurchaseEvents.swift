import AppStorePayloads
public import Base
public import Subscriptions

/// The events to report for something bought once: a function of what was reported last and what it is now.
///
/// Reported are its completion, once, its refund, a reversed refund, and its move to another account. Two are
/// corrections of the earlier report: a refund of another share, and a completion whose product, kind or end is
/// another. What was paid for again, a credit of a consumable or after a refund, is reported as a completion of its own.
public enum OneTimePurchaseEvents {
    /// The events, in order.
    /// - Parameters:
    ///   - reported: what was reported last; nil for nothing.
    ///   - value: what it is now.
    ///   - account: the account that has it; nil for none.
    ///   - former: the account that had it before, if another: both get an event, each in its own order.
    ///   - evidence: what brought the news; at least one.
    ///   - isFill: whether only the present state is reported, where nothing was reported before.
    public static func events(
        _ reported: OneTimePurchase?, _ value: OneTimePurchase, of key: PurchaseKey, account: UniqueIdentifier?,
        from former: UniqueIdentifier? = nil, evidence: [Evidence], at now: Timestamp, isFill: Bool = false,
        rules: EventRules = EventRules()
    ) -> [EventDraft] {
        var events: [EventDraft] = []
        let evidence = evidence.sorted { $0.asOf < $1.asOf }
        func draft(
            _ kind: EventKind, after previous: OneTimePurchase?, at instant: Timestamp, isCorrection: Bool = false,
            by source: Evidence? = nil
        ) -> EventDraft {
            let instant = min(instant, now)
            return EventDraft(
                kind, environment: key.environment, bundleID: key.bundleID, purchase: key, account: account,
                subject: .oneTime(value, previous: previous), source: source ?? evidence.last,
                instant: instant,
                isLate: rules.isLate(instant, at: now), isCorrection: isCorrection)
        }
        func add(_ kind: EventKind, at instant: Timestamp, isCorrection: Bool = false) {
            events.append(draft(kind, after: reported, at: instant, isCorrection: isCorrection))
        }
        func take(at instant: Timestamp, isCorrection: Bool = false) {
            events.append(
                draft(
                    value.isFamilyShared ? .purchaseRevoked : .purchaseRefunded, after: reported, at: instant,
                    isCorrection: isCorrection, by: evidence.first(refundedAt: instant)))
        }
        func complete(_ sale: OneTimePurchase.Sale) {
            add(.purchaseCompleted, at: sale.purchasedAt)
            if let revokedAt = sale.revokedAt { take(at: revokedAt) }
        }
        if let reported {
            let pairs = value.sales(pairedWith: reported)
            if !value.isSameThing(as: reported) { add(.purchaseCompleted, at: value.purchasedAt, isCorrection: true) }
            for (sale, former) in pairs {
                guard let former else {
                    complete(sale)
                    continue
                }
                switch (former.revokedAt, sale.revokedAt) {
                case (nil, let revokedAt?): take(at: revokedAt)
                case (_?, nil): add(.purchaseRefundReversed, at: evidence.last?.asOf ?? now)
                case (let known?, let revokedAt?) where known != revokedAt || former.revokedShare != sale.revokedShare:
                    take(at: revokedAt, isCorrection: true)
                default: break
                }
            }
        } else if isFill {
            if value.revokedAt == nil { add(.purchaseCompleted, at: value.purchasedAt) }
            if let revokedAt = value.revokedAt { take(at: revokedAt) }
        } else {
            for (sale, _) in value.sales(pairedWith: nil) { complete(sale) }
        }
        if let former, former != account {
            events += draft(.purchaseTransferred, after: value, at: now)
                .reportedToBoth(of: EventDraft.Move(from: former, to: account))
        }
        return events
    }
}

extension OneTimePurchase {
    /// Whether both are the same apart from refunds. A restored copy has another transaction, and may have come first.
    fileprivate func isSameThing(as other: OneTimePurchase) -> Bool {
        kind == other.kind && productID == other.productID && ownership == other.ownership
            && expiresAt == other.expiresAt
            && (quantity == other.quantity || sales.count != other.sales.count)
    }

    /// Its sales, each with what it was in an earlier state; nil for one that was not there. What stands for a sale may
    /// be another transaction once more copies are known.
    fileprivate func sales(pairedWith former: OneTimePurchase?) -> [(sale: Sale, former: Sale?)] {
        var others = former.map { $0.sales.isEmpty ? [$0.only] : $0.sales } ?? []
        var pairs = (sales.isEmpty ? [only] : sales).map { sale -> (sale: Sale, former: Sale?) in
            guard let place = others.firstIndex(where: { $0.transactionID == sale.transactionID }) else {
                return (sale, nil)
            }
            return (sale, others.remove(at: place))
        }
        for place in pairs.indices where pairs[place].former == nil && !others.isEmpty {
            pairs[place].former = others.removeFirst()
        }
        return pairs
    }

    /// Itself as the one sale that it is.
    private var only: Sale {
        Sale(
            transactionID: transactionID, purchasedAt: purchasedAt, quantity: quantity, revokedAt: revokedAt,
            revokedShare: revokedShare, revokedReason: revokedReason)
    }
}
