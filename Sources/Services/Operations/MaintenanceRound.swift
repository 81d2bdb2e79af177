package import AccountStore
package import EventStore
package import EvidenceStore
package import Postgres

/// One round of maintenance, over all that is not kept for good.
package struct MaintenanceRound: Sendable, Hashable {
    /// What it did to the outbox, and the failures of all steps.
    package var outbox: MaintenanceReport
    /// What it deleted of usage.
    package var usage = UsageUpkeep()
    /// What it deleted of histories that callers write.
    package var histories = HistoryUpkeep()
    /// Days of events that it made room for.
    package var eventDaysMade = 0
    /// Days of events that it dropped.
    package var eventDaysDropped = 0
    /// What it deleted of deliveries.
    package var deliveries = DeliveryUpkeep()

    /// Performs what is due. A step that fails does not stop the others; its failure is listed with the outbox's.
    /// - Throws: `PostgresError` where the database is unavailable.
    package init(_ pool: PostgresPool, _ retention: Retention) async throws {
        let (events, endpoints) = (EventStore(pool), EndpointStore(pool))
        outbox = try await Outbox(pool).maintain(retention)
        do {
            usage = try await Usage(pool).dropOld()
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: "the old counts of usage", error: error))
        }
        do {
            histories = try await HistoryUpkeep(pool, keeping: retention.historyDays)
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: "the old attempts and consents", error: error))
        }
        do {
            eventDaysMade = try await events.ensurePartitions()
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: "the days of events to come", error: error))
        }
        do {
            eventDaysDropped = try await events.dropOld(keeping: retention.days)
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: "the old days of events", error: error))
        }
        do {
            deliveries = try await endpoints.dropOld(keeping: retention.deliveryDays)
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: "the old deliveries", error: error))
        }
    }
}
