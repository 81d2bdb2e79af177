/// A store that knows what really happened to one customer's purchases, and tells it in notifications.
///
/// The truth comes from a ledger of dated events, never from the notifications: a judge may hold what a listener makes
/// of the notifications against it. The same seed always gives the same life.
package struct ModelStore: Sendable {
    /// Everything that the store sends, by signing date; each under a UUID of its own.
    package let notifications: [ModelNotification]
    /// One ledger for each original transaction; a second one if the customer bought again while a charge was failing.
    package let ledgers: [ModelLedger]

    /// Lives one life of about 10 to 40 notifications.
    package init(seed: UInt64) {
        var random = ModelRandom(seed: seed)
        let start = 1_609_459_200_000 + random.between(0, 900 * ModelTime.day)
        let target = Int(random.between(10, 34))
        let isFamilyShared = random.chance(8)
        let first = ModelPurchase(
            random: ModelRandom(seed: random.next()), start: start, target: target, isFamilyShared: isFamilyShared,
            mayBuyAgain: !isFamilyShared)
        var purchases = [first]
        if let date = first.boughtAgainAt {
            let rest = max(target - first.sent.count, 3)
            purchases.append(
                ModelPurchase(
                    random: ModelRandom(seed: random.next()), start: date, target: rest, isFamilyShared: false,
                    mayBuyAgain: false))
        }
        ledgers = purchases.map { $0.ledger }
        notifications = purchases.flatMap { $0.sent }.sorted { ($0.signedDate, $0.uuid) < ($1.signedDate, $1.uuid) }
    }

    /// What is really so with the purchase at the instant, in epoch milliseconds; absent before it was made.
    package func truth(of originalTransactionId: String, at instant: Int64) -> ModelTruth? {
        ledgers.first { $0.originalTransactionId == originalTransactionId }?.truth(at: instant)
    }

    /// Whether the store knew something of the purchase at the instant, in epoch milliseconds, that it told only
    /// afterwards and without the date on which it became so.
    ///
    /// A listener that only listens cannot be right there, not even looking back.
    package func isUntold(of originalTransactionId: String, at instant: Int64) -> Bool {
        ledgers.contains { ledger in
            ledger.originalTransactionId == originalTransactionId
                && ledger.untold.contains { $0.contains(instant) }
        }
    }
}
