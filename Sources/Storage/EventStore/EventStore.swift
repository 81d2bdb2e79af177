package import Events
package import Postgres

/// Stored events: written in the transaction that causes them, numbered in the order of their account or purchase, and
/// put into one order for all that is gapless and in which nothing ever appears before something that was read.
///
/// A transaction that writes events holds the locks of purchases by their keys (``/Ledger/Ledger/hold(_:_:)``), then
/// of accounts by their tokens. So numbers are assigned by one transaction after the other, and never twice.
package struct EventStore: Sendable {
    let pool: PostgresPool
    /// The operator's choices.
    package var rules: EventRules

    /// How long a suspended worker may hold the locks of a clock's transaction.
    static let idleTimeout = Duration.seconds(10)

    /// The store behind a pool of connections.
    package init(_ pool: PostgresPool, rules: EventRules = EventRules()) {
        self.pool = pool
        self.rules = rules
    }
}
