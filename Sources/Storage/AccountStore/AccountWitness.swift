package import Events
package import Postgres
package import Subscriptions

/// Is called with changed accounts, in the transaction that changes them.
package protocol AccountWitness: Sendable {
    /// - Parameters:
    ///   - settled: the accounts' new states.
    ///   - purchases: the locked purchases whose owner or state the same transaction has changed.
    ///   - cause: why.
    func witness(
        _ settled: AccountStore.Settled, of purchases: [PurchaseKey], cause: EventCause,
        _ session: borrowing PostgresSession
    ) throws
}
