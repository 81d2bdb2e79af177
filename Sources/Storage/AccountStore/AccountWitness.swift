package import Events
package import Postgres
package import Subscriptions

/// Who is told what has become of accounts, in the transaction that changes them.
package protocol AccountWitness: Sendable {
    /// - Parameters:
    ///   - settled: what the accounts are now.
    ///   - purchases: those of which the same transaction has changed whose they are, or what they are; they are held.
    ///   - cause: why.
    func witness(
        _ settled: AccountStore.Settled, of purchases: [PurchaseKey], cause: EventCause,
        _ session: borrowing PostgresSession
    ) throws
}
