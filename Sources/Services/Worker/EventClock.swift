package import AccountStore
package import EventStore
package import EvidenceStore
package import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// The clock as a cause, beside a worker: tells what comes to be by itself, and what is to be told of everybody; and gives what was
/// told its place in the order that readers follow. Any number of workers do this at once.
///
/// It never tells what is due later than what the workers have come to (``/Outbox/Outbox/reached()``): what Apple posted while
/// all were away is applied first, and each end is then told as it would have been told, but late.
package final class EventClock: Service {
    private let events: EventStore
    private let accounts: AccountStore
    private let outbox: Outbox
    private let interval: Duration
    private let logger: Logger
    private let metrics: EventMetrics
    private let placing = WorkSignal()
    private let ticking = WorkSignal()

    /// How often it looks whether there is anything to be told of everybody, in rounds.
    private static let walkRounds = 15
    private static let portion = 100
    /// How many events get a place at once.
    private static let placed = 10_000
    /// Poll interval for events that other processes write (API, CLI), which send no notification; it bounds their latency.
    private static let placingInterval = Duration.milliseconds(200)
    /// Between two of those where anything is told: so many times a second is what a worker pays for it.
    private static let placingPause = Duration.milliseconds(50)
    /// From so many at once on it is the longer one, for then the workers have a backlog, and who is told is late by more than that.
    private static let placedOfBacklog = 100
    private static let backoff = Backoff(base: .milliseconds(200), cap: .seconds(10))

    /// A clock.
    /// - Parameter interval: the most between two looks, of which each takes half to all: many do not come together.
    package init(
        _ events: EventStore, _ accounts: AccountStore, _ outbox: Outbox, interval: Duration = .seconds(1),
        logger: Logger, metrics: EventMetrics
    ) {
        self.events = events
        self.accounts = accounts
        self.outbox = outbox
        self.interval = interval
        self.logger = logger
        self.metrics = metrics
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup { group in
                group.addTask {
                    await self.loop("Placing events", self.placing, every: min(self.interval, Self.placingInterval)) {
                        try await self.place()
                    }
                }
                group.addTask {
                    await self.loop("Telling what comes to be by itself", self.ticking, every: self.interval) {
                        try await self.tick()
                    }
                }
            }
        } onGracefulShutdown: {
            self.placing.stop()
            self.ticking.stop()
        }
    }

    /// Says that something was told in a transaction that is committed.
    func wrote(_ told: Told) {
        metrics.count(told)
        if told.count > 0 { placing.wake() }
    }

    /// Repeats a step until graceful shutdown, at once where it has done something.
    private func loop(
        _ name: String, _ signal: WorkSignal, every interval: Duration, _ step: @Sendable () async throws -> Bool
    ) async {
        var failures = 0
        while !signal.isStopped, !Task.isCancelled {
            do {
                let hasWorked = try await step()
                failures = 0
                if !hasWorked { await signal.wait(atMost: interval * Double.random(in: 0.5...1)) }
            } catch {
                if Task.isCancelled || signal.isStopped { return }
                failures += 1
                // Once, not once a second for as long as the database is away.
                if failures == 1 { logger.warning("\(name) failed; trying on", metadata: ["error": "\(error)"]) }
                await signal.rest(for: Self.backoff.pause(afterFailures: failures))
            }
        }
    }

    /// Where much is told, what is told within a moment gets its places together: each time costs a commit that waits for the disk.
    private func place() async throws -> Bool {
        let placed = try await events.place(atMost: Self.placed)
        if placed > 0, placed < Self.placed {
            await placing.rest(for: placed < Self.placedOfBacklog ? Self.placingPause : Self.placingInterval)
        }
        // Once more: who was heard during the pause is not heard again.
        return placed > 0
    }

    private let round = Atomic(0)

    /// - Returns: whether there may be more.
    private func tick() async throws -> Bool {
        let reached = try await outbox.reached()
        var taken = 0
        if try await events.isDue(upTo: reached) {
            for due in EventStore.Due.allCases { taken += try await tick(due, upTo: reached) }
        }
        let number = round.add(1, ordering: .relaxed).oldValue
        if taken == 0, try await events.isWalking() || number.isMultiple(of: Self.walkRounds) {
            for due in EventStore.Due.allCases { taken += try await walk(due) }
        }
        return taken > 0
    }

    /// What is due.
    /// - Returns: how many it was at.
    private func tick(_ due: EventStore.Due, upTo reached: PostgresTimestamp) async throws -> Int {
        try await isolating(from: Self.portion) { limit in
            try await events.tick(due, accounts, upTo: reached, atMost: limit)
        } giveUp: { untold in
            try await events.postpone(untold)
            logger.error(
                "Something that is due cannot be told; put off for an hour", metadata: ["error": "\(untold)"])
            return 1
        }
    }

    /// What is told of everybody.
    private func walk(_ due: EventStore.Due) async throws -> Int {
        try await isolating(from: EventStore.portion) { limit in
            try await events.walk(due, accounts, atMost: limit)
        } giveUp: { untold in
            logger.error("Something cannot be told of everybody; the others are", metadata: ["error": "\(untold)"])
            return try await events.walk(due, accounts, atMost: 1, goingOver: untold).taken
        }
    }

    /// What cannot be told keeps nothing else from being told: a portion that fails is done in smaller ones, and what fails alone is
    /// given up for now.
    private func isolating(
        from portion: Int, _ step: (Int) async throws -> EventStore.Ticked,
        giveUp: (EventStore.Untold) async throws -> Int
    ) async throws -> Int {
        var limit = portion
        while true {
            do {
                let ticked = try await step(limit)
                wrote(ticked.told)
                return ticked.taken
            } catch let untold as EventStore.Untold {
                if untold.count == 1 {
                    metrics.postpone()
                    return try await giveUp(untold)
                }
                limit = limit > 10 ? 10 : 1
            }
        }
    }
}
