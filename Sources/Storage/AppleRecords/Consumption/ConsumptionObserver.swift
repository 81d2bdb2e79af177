package import Postgres
package import Subscriptions

/// Called with each answer to Apple about a purchase, in the transaction that records the outcome.
package protocol ConsumptionObserver: Sendable {
    /// - Parameters:
    ///   - purchase: what it is about.
    ///   - transaction: the one that a refund is asked for.
    ///   - outcome: what it came to.
    func answered(
        about purchase: PurchaseKey, _ transaction: String, outcome: ConsumptionOutcome,
        _ session: borrowing PostgresSession
    ) throws
}
