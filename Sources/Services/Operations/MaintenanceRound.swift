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
    /// Whether it wrote the products of the current catalog beside it, which an earlier release had applied.
    package var hasListedProducts = false

    /// Performs what is due. A step that fails does not stop the others; its failure is listed with the outbox's.
    /// - Throws: `PostgresError` where the database is unavailable.
    package init(_ pool: PostgresPool, _ retention: Retention) async throws {
        let (events, endpoints) = (EventStore(pool), EndpointStore(pool))
        outbox = try await Outbox(pool).maintain(retention)
        try await keep(\.usage, "the old counts of usage") { try await Usage(pool).dropOld() }
        try await keep(\.histories, "the old attempts and consents") {
            try await HistoryUpkeep(pool, keeping: retention.historyDays)
        }
        try await keep(\.eventDaysMade, "the days of events to come") { try await events.ensurePartitions() }
        try await keep(\.eventDaysDropped, "the old days of events") {
            try await events.dropOld(keeping: retention.days)
        }
        try await keep(\.hasListedProducts, "the products of the catalog") {
            try await AccountStore(pool).listProducts()
        }
        try await keep(\.deliveries, "the old deliveries") {
            try await endpoints.dropOld(keeping: retention.deliveryDays)
        }
    }

    /// Performs a step and keeps its result, or lists its failure.
    private mutating func keep<Result>(
        _ result: WritableKeyPath<Self, Result>, _ step: String, _ perform: () async throws -> Result
    ) async throws {
        do {
            self[keyPath: result] = try await perform()
        } catch let error as PostgresError {
            outbox.failures.append(.init(step: step, error: error))
        }
    }
}
