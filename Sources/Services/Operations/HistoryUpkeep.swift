import AccountStore
import AppleRecords
import Postgres

/// What was deleted of histories that callers write, because it is older than they are kept.
package struct HistoryUpkeep: Sendable, Hashable {
    /// Attempts to buy.
    package var attempts: Int64 = 0
    /// Consents that later ones have superseded, and that no answer to Apple rests on.
    package var consents: Int64 = 0
    /// Budgets of days that are over.
    package var budgets: Int64 = 0

    /// Nothing.
    package init() {}

    /// Deletes what is older than so many days.
    init(_ pool: PostgresPool, keeping days: Int) async throws {
        budgets = try await WriteBudget.dropOld(pool)
        attempts = try await AccountStore(pool).dropAttempts(keeping: days)
        consents = try await Consents(pool).dropSuperseded(keeping: days)
    }
}
