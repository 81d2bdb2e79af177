package import Outbox
import Postgres
package import Usage

/// One round of maintenance, over all that is not kept for good.
package struct MaintenanceRound: Sendable, Hashable {
    /// What it did to the outbox, and what could not be done of all steps.
    package var outbox: MaintenanceReport
    /// What it threw away of usage.
    package var usage = UsageUpkeep()

    /// Does what is due. What one step cannot do keeps none of the others from being done, and is among the outbox's failures.
    /// - Throws: `PostgresError` where the database is away.
    package init(_ outbox: Outbox, _ usage: Usage, _ retention: Retention) async throws {
        self.outbox = try await outbox.maintain(retention)
        do {
            self.usage = try await usage.dropOld()
        } catch let error as PostgresError {
            self.outbox.failures.append(.init(step: "the old counts of usage", error: error))
        }
    }
}
