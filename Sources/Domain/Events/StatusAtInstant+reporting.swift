import AppStorePayloads
import Subscriptions

extension StatusAtInstant {
    /// What a status comes to, whether or not it is going to renew.
    enum Standing: Hashable {
        case paid
        case gracePeriod
        case billingRetry
        case expired
        case revoked
    }

    var standing: Standing {
        switch status {
        case .trial, .active, .cancelled: .paid
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether Apple is going to charge again, as far as it ever said.
    var isRenewing: Bool { willRenew != false }

    /// The product after the next renewal.
    var comingProductID: String? { renewalProductID ?? productID }

    /// As it is from the end of the trial on, where what follows is paid for already. It is about the trial's transaction; see
    /// ``SubscriptionNow/afterTrial(_:)``.
    var afterTrial: StatusAtInstant {
        var value = self
        value.inTrial = false
        if value.status == .trial { value.status = .active }
        return value
    }

    /// Equal in standing and product, whatever is going to come.
    func holds(sameAs other: StatusAtInstant) -> Bool { standing == other.standing && productID == other.productID }

    /// Whether both are the same to an event's reader, who needs no event between them. Not compared: what an end was
    /// for, and all about a renewal that is no longer expected.
    func says(sameAs other: StatusAtInstant) -> Bool {
        guard status == other.status, productID == other.productID else { return false }
        guard status.access else { return true }
        return accessUntil == other.accessUntil && inTrial == other.inTrial && isRenewing == other.isRenewing
            && priceIncreasePending == other.priceIncreasePending && comingProductID == other.comingProductID
    }
}
