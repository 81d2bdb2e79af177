import EventStore
import Foundation
import Logging
import Postgres
import Synchronization

/// Writes events at a steady rate, each in a transaction of its own, and notes when each was committed.
final class DeliveriesWriting: Sendable {
    private let site: DeliveriesSite
    private let events: EventStore
    private let receivers: [DeliveriesReceiver]
    private let insert: @Sendable (PostgresPool) async throws -> [Int64]
    private let committed = Mutex<[String: ContinuousClock.Instant]>([:])
    private let isOver = Atomic(false)

    /// Events of so many accounts, which the first endpoint waits for.
    convenience init(site: DeliveriesSite, events: EventStore, accounts: Int) {
        self.init(site: site, events: events, awaitedBy: [site.receiver]) { pool in
            try await site.write(1, ofAccounts: accounts, on: pool)
        }
    }

    /// - Parameters:
    ///   - receivers: those at which all that is written has to arrive.
    ///   - insert: writes one event, and returns its number.
    init(
        site: DeliveriesSite, events: EventStore, awaitedBy receivers: [DeliveriesReceiver],
        _ insert: @escaping @Sendable (PostgresPool) async throws -> [Int64]
    ) {
        self.site = site
        self.events = events
        self.receivers = receivers
        self.insert = insert
    }

    /// Writes so many, and returns once all of them have arrived: when each was committed, by its `webhook-id`. What has arrived before
    /// must have been taken from the receivers.
    func write(_ count: Int, perSecond rate: Int) async throws -> [String: ContinuousClock.Instant] {
        let writers = PostgresPool(
            configuration: try PostgresConfiguration(url: site.database.url), size: 8,
            logger: Logger(label: "storehook-bench") { _ in SwiftLogNoOpLogHandler() })
        let placing = Task { try await self.place() }
        let begun = ContinuousClock.now
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    try await Task.sleep(until: begun + .seconds(Double(number) / Double(rate)), clock: .continuous)
                    group.addTask { try await self.writeOne(on: writers) }
                }
                try await group.waitForAll()
            }
            try await patiently("what was written arrives", within: .seconds(60)) {
                self.receivers.allSatisfy { $0.events >= count }
            }
        } catch {
            isOver.store(true, ordering: .relaxed)
            await writers.close()
            throw error
        }
        isOver.store(true, ordering: .relaxed)
        try await placing.value
        await writers.close()
        return committed.withLock { $0 }
    }

    private func writeOne(on writers: PostgresPool) async throws {
        let ids = try await insert(writers)
        let now = ContinuousClock.now
        committed.withLock { committed in
            for id in ids { committed["evt_\(id)"] = now }
        }
    }

    /// Gives events their places, as a writer has it done after its commit.
    private func place() async throws {
        while !isOver.load(ordering: .relaxed) {
            _ = try await events.place()
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
