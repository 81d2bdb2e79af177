package import AccountStore
import Base
package import EventStore
package import EvidenceStore
package import Logging
import Pipeline
import Postgres
import ServiceLifecycle
import Synchronization

/// Writes the events that only time causes, and those owed to all purchases and accounts (walks), beside a worker; and
/// gives written events their place in the order that readers follow. Any number of workers do this at once.
///
/// It never writes an event for an instant later than the workers have applied (``/Outbox/Outbox/appliedThrough()``):
/// what Apple posted while all workers were down is applied first, and each end is then reported as it would
/// have been, but late.
package final class EventClock: Service {
    private let events: EventStore
    private let accounts: AccountStore
    private let outbox: Outbox
    private let interval: Duration
    private let logger: Logger
    private let metrics: EventMetrics
    private let lives: LifeLog
    private let placing = WorkSignal()
    private let ticking = WorkSignal()

    /// After how many rounds it looks for a walk again.
    private static let walkRounds = 15
    private static let portion = 100
    /// How many events get a place at once.
    private static let placed = 10_000
    /// Poll interval for events that other processes write (API, CLI), which send no notification; it bounds their latency.
    private static let placingInterval = Duration.milliseconds(200)
    /// The pause between two rounds that place events: 20 rounds a second are what a worker spends on it.
    private static let placingPause = Duration.milliseconds(50)
    /// From so many events in a round on the pause is the longer one: then the workers have a backlog, and events are
    /// late by more than that.
    private static let placedOfBacklog = 100
    /// For how long the events of an account or a purchase that cannot be written are put off.
    private static let later = Duration.seconds(3600)
    /// Likewise, where the database refuses them for a fault of its own.
    private static let soon = Duration.seconds(10)

    /// A clock.
    /// - Parameter interval: the longest pause between two looks. Each pause is a random half to all of it, so that
    ///   many clocks do not look together.
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
        lives = LifeLog(logger)
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup { group in
                group.addTask {
                    let interval = min(self.interval, Self.placingInterval)
                    await self.placing.repeating("Placing events", every: interval, logger: self.logger) {
                        try await self.place()
                    }
                }
                group.addTask {
                    await self.ticking.repeating(
                        "Reporting what time causes", every: self.interval, logger: self.logger
                    ) {
                        try await self.tick()
                    }
                }
            }
        } onGracefulShutdown: {
            self.placing.stop()
            self.ticking.stop()
        }
    }

    /// Counts events of a committed transaction, says what they report of trials, and has them placed.
    func wrote(_ events: EventCounts) {
        metrics.count(events)
        lives.note(events)
        if events.count > 0 { placing.wake() }
    }

    /// Events written within a moment get their places together: each round costs a commit that waits for the disk.
    func place() async throws -> Bool {
        let placed = try await events.place(atMost: Self.placed)
        if placed > 0, placed < Self.placed {
            await placing.rest(for: placed < Self.placedOfBacklog ? Self.placingPause : Self.placingInterval)
        }
        // Look again: a wake-up during the pause is not repeated.
        return placed > 0
    }

    private let round = Atomic(0)

    /// Writes what is due, owed or walked.
    /// - Returns: whether there may be more.
    func tick() async throws -> Bool {
        let reached = try await outbox.appliedThrough()
        var taken = 0
        if try await events.isDue(upTo: reached) {
            for due in EventStore.Due.allCases { taken += try await tick(due, upTo: reached) }
        }
        if taken == 0, try await events.isOwed() {
            for due in EventStore.Due.allCases { taken += try await settleOwed(due) }
        }
        let number = round.add(1, ordering: .relaxed).oldValue
        if taken == 0, try await events.isWalking() || number.isMultiple(of: Self.walkRounds) {
            for due in EventStore.Due.allCases { taken += try await walk(due) }
        }
        return taken > 0
    }

    /// Writes the events that are due.
    /// - Returns: how many purchases or accounts it processed.
    private func tick(_ due: EventStore.Due, upTo reached: PostgresTimestamp) async throws -> Int {
        try await isolating(from: Self.portion) { limit in
            try await events.tick(due, accounts, upTo: reached, atMost: limit)
        } giveUp: { untold in
            try await postpone(untold, "An event that is due cannot be written")
            return 1
        }
    }

    /// Writes a portion of what is owed to first fills that are over.
    private func settleOwed(_ due: EventStore.Due) async throws -> Int {
        try await isolating(from: EventStore.portion) { limit in
            try await events.settleOwed(due, accounts, atMost: limit)
        } giveUp: { untold in
            try await postpone(untold, "The events that are due for a purchase cannot be written")
            return 1
        }
    }

    /// Puts off the account or purchase whose events cannot be written. A database that refuses them for a fault of its own refuses the
    /// next one's as well: those are not tried, and what is put off comes back soon.
    /// - Throws: the database's error, where it is to blame.
    private func postpone(_ untold: EventStore.Untold, _ what: String) async throws {
        let isOfTheDatabase = RefusalBlame(untold.cause) == .database && untold.cause.kind != .decoding
        try await events.postpone(untold, by: isOfTheDatabase ? Self.soon : Self.later)
        if isOfTheDatabase { throw untold.cause }
        logger.error("\(what); put off for an hour", metadata: ["error": "\(untold)"])
    }

    /// Writes a portion of a walk's events.
    private func walk(_ due: EventStore.Due) async throws -> Int {
        try await isolating(from: EventStore.portion) { limit in
            try await events.walk(due, accounts, atMost: limit)
        } giveUp: { untold in
            logger.error(
                "An account or a purchase cannot be reported; the others are", metadata: ["error": "\(untold)"])
            return try await events.walk(due, accounts, atMost: 1, goingOver: untold).taken
        }
    }

    /// An event that cannot be written stops no other: a portion that fails is done in smaller ones, and what fails
    /// alone is given up for now.
    private func isolating(
        from portion: Int, _ step: (Int) async throws -> EventStore.ClockResult,
        giveUp: (EventStore.Untold) async throws -> Int
    ) async throws -> Int {
        var limit = portion
        while true {
            do {
                let ticked = try await step(limit)
                wrote(ticked.events)
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
