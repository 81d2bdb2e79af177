import Base

/// What StoreKit hands to the app on a customer's device.
extension SimulatedAppStore {
    /// The transactions that no app has finished as they stand, in the order of their purchase (`Transaction.unfinished`).
    ///
    /// Renewals are among them. A finished transaction is handed out again once it is refunded or revoked, and once that is
    /// reversed: the app has not heard of this yet.
    func unfinished(of customer: Customer) -> [SimulatedSubscriber.SoldItem] {
        let subscriber = customer.subscriber
        return subscriber.allItems.filter { item in
            finished[subscriber[item].transactionId] != Self.standing(subscriber[item])
        }.sorted { one, other in
            let (one, other) = (subscriber[one], subscriber[other])
            return (one.purchaseDate, one.transactionId) < (other.purchaseDate, other.transactionId)
        }
    }

    /// What the customer may use at an instant (`Transaction.currentEntitlements`): the latest transaction of each
    /// subscription that is active or in its grace period, and one-time purchases other than consumables; what was refunded
    /// or revoked is left out.
    func entitlements(of customer: Customer, at instant: Milliseconds) -> [SimulatedSubscriber.SoldItem] {
        let subscriber = customer.subscriber
        let lines = subscriber.allLines.filter { line in
            let status = subscriber.appleStatus(of: line, at: instant)
            return [SubscriptionLine.Phase.active, .gracePeriod].map(\.rawValue).contains(status)
        }.map(subscriber.latest(of:))
        let single = subscriber.allItems.filter { item in
            guard case .single = item else { return false }
            return subscriber[item].type != SimulatedProduct.Kind.consumable.rawValue
        }
        return (lines + single).filter { subscriber[$0].revocationDate == nil }
    }

    /// The app has delivered a transaction, as it stands now. A second time changes nothing.
    func finish(_ record: TransactionRecord) { finished[record.transactionId] = Self.standing(record) }

    /// What an app has to hear of a transaction beside its purchase: the date of its revocation; 0 where it has none.
    private static func standing(_ record: TransactionRecord) -> Milliseconds { record.revocationDate ?? 0 }
}
