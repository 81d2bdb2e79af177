import AppStorePayloads
public import Base
public import Subscriptions

/// The events to report for something bought once: a function of what was reported last and what it is now.
///
/// Reported are its completion, once, its refund, a reversed refund, and its move to another account. Two are
/// corrections of the earlier report: a refund of another share, and a completion whose product, kind or end is
/// another.
public enum OneTimePurchaseEvents {
    /// The events, in order.
    /// - Parameters:
    ///   - reported: what was reported last; nil for nothing.
    ///   - value: what it is now.
    ///   - account: the account that has it; nil for none.
    ///   - former: the account that had it before, if another: both get an event, each in its own order.
    ///   - evidence: what brought the news.
    ///   - isFill: whether only the present state is reported, where nothing was reported before.
    public static func events(
        _ reported: OneTimePurchase?, _ value: OneTimePurchase, of key: PurchaseKey, account: UniqueIdentifier?,
        from former: UniqueIdentifier? = nil, evidence: Evidence, at now: Timestamp, isFill: Bool = false,
        rules: EventRules = EventRules()
    ) -> [EventDraft] {
        var events: [EventDraft] = []
        func draft(
            _ kind: EventKind, after previous: OneTimePurchase?, at instant: Timestamp, isCorrection: Bool = false
        ) -> EventDraft {
            let instant = min(instant, now)
            return EventDraft(
                kind, environment: key.environment, bundleID: key.bundleID, purchase: key, account: account,
                subject: .oneTime(value, previous: previous), cause: evidence.cause, instant: instant,
                isLate: rules.isLate(instant, at: now), isCorrection: isCorrection)
        }
        func add(_ kind: EventKind, at instant: Timestamp, isCorrection: Bool = false) {
            events.append(draft(kind, after: reported, at: instant, isCorrection: isCorrection))
        }
        let taken: EventKind =
            value.ownership == OwnershipType.familyShared.rawValue ? .purchaseRevoked : .purchaseRefunded
        if let reported {
            if !value.isSameThing(as: reported) { add(.purchaseCompleted, at: value.purchasedAt, isCorrection: true) }
            switch (reported.revokedAt, value.revokedAt) {
            case (nil, let revokedAt?): add(taken, at: revokedAt)
            case (_?, nil): add(.purchaseRefundReversed, at: evidence.asOf)
            case (let former?, let revokedAt?) where former != revokedAt || reported.revokedShare != value.revokedShare:
                add(taken, at: revokedAt, isCorrection: true)
            default: break
            }
        } else {
            if value.revokedAt == nil || !isFill { add(.purchaseCompleted, at: value.purchasedAt) }
            if let revokedAt = value.revokedAt { add(taken, at: revokedAt) }
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
            && expiresAt == other.expiresAt && quantity == other.quantity
    }
}
