package import Events
package import Postgres

/// Events as they are kept: written in the transaction that causes them, numbered in the order of the account or purchase they
/// are told of, and put into one order for all that is gapless and in which nothing ever appears before something that was read.
///
/// Whoever tells holds what it tells of: purchases by their keys (``/Ledger/Ledger/hold(_:_:)``), then accounts by their tokens.
/// So numbers are given by one transaction after the other, and a number is never given twice.
package struct EventStore: Sendable {
    let pool: PostgresPool
    /// What the operator decides.
    package var rules: TellingRules

    /// How long a worker that stands still may hold what it is telling of by itself.
    static let idleTimeout = Duration.seconds(10)

    /// The store behind a pool of connections.
    package init(_ pool: PostgresPool, rules: TellingRules = TellingRules()) {
        self.pool = pool
        self.rules = rules
    }
}
