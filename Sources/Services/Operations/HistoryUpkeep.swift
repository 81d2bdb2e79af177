import AccountStore
import AppleRecords
import EvidenceStore
import Postgres

/// What was deleted of histories that callers, workers and staff write, because it is older than they are kept.
package struct HistoryUpkeep: Sendable, Hashable {
    /// Attempts to buy.
    package var attempts: Int64 = 0
    /// Consents that later ones have superseded, and that no answer to Apple rests on.
    package var consents: Int64 = 0
    /// Budgets of days that are over.
    package var budgets: Int64 = 0
    /// Attempts at evidence that came to nothing.
    package var evidence: Int64 = 0
    /// Jobs of the staff that have ended.
    package var jobs: Int64 = 0
    /// What searches of the staff led to.
    package var searches: Int64 = 0

    /// Nothing.
    package init() {}

    /// Deletes what is older than so many days.
    init(_ pool: PostgresPool, keeping days: Int) async throws {
        budgets = try await WriteBudget.dropOld(pool)
        attempts = try await AccountStore(pool).dropAttempts(keeping: days)
        consents = try await Consents(pool).dropSuperseded(keeping: days)
        evidence = try await Outbox(pool).dropAttempts(keeping: days)
        jobs = try await JobStore(pool).dropOld(keeping: days)
        searches = try await StaffSearches(pool).dropOld()
    }
}
