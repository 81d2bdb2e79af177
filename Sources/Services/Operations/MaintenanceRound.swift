package import AccountStore
package import EventStore
package import EvidenceStore
import Postgres

/// One round of maintenance, over all that is not kept for good.
package struct MaintenanceRound: Sendable, Hashable {
    /// What it did to the outbox, and what could not be done of all steps.
    package var outbox: MaintenanceReport
    /// What it threw away of usage.
    package var usage = UsageUpkeep()
    /// Days of events that it made room for.
    package var eventDaysMade = 0
    /// Days of events that it dropped.
    package var eventDaysDropped = 0
    /// What it threw away of deliveries.
    package var deliveries = DeliveryUpkeep()

    /// Does what is due. What one step cannot do keeps none of the others from being done, and is among the outbox's failures.
    /// - Throws: `PostgresError` where the database is away.
    package init(
        _ outbox: Outbox, _ usage: Usage, _ events: EventStore, _ endpoints: EndpointStore, _ retention: Retention
    ) async throws {
        self.outbox = try await outbox.maintain(retention)
        do {
            self.usage = try await usage.dropOld()
        } catch let error as PostgresError {
            self.outbox.failures.append(.init(step: "the old counts of usage", error: error))
        }
        do {
            eventDaysMade = try await events.ensurePartitions()
        } catch let error as PostgresError {
            self.outbox.failures.append(.init(step: "the days of events to come", error: error))
        }
        do {
            eventDaysDropped = try await events.dropOld(keeping: retention.days)
        } catch let error as PostgresError {
            self.outbox.failures.append(.init(step: "the old days of events", error: error))
        }
        do {
            self.deliveries = try await endpoints.dropOld(keeping: retention.deliveryDays)
        } catch let error as PostgresError {
            self.outbox.failures.append(.init(step: "the old deliveries", error: error))
        }
    }
}
