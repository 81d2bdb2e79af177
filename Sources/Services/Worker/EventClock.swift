package import AccountStore
package import EventStore
package import Logging
package import Outbox
import Postgres
import Queue
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
    /// Between two of those.
    private static let placingPause = Duration.milliseconds(20)
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
                group.addTask { await self.loop("Placing events", self.placing) { try await self.place() } }
                group.addTask {
                    await self.loop("Telling what comes to be by itself", self.ticking) { try await self.tick() }
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
    private func loop(_ name: String, _ signal: WorkSignal, _ step: @Sendable () async throws -> Bool) async {
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
        if placed > 0, placed < Self.placed { await placing.rest(for: Self.placingPause) }
        // Once more: who was heard during the pause is not heard again.
        return placed > 0
    }

    private let round = Atomic(0)

    /// - Returns: whether there may be more.
    private func tick() async throws -> Bool {
        let reached = try await outbox.reached()
        var hasWorked = false
        if try await events.isDue(upTo: reached) {
            let ticked = try await tick(upTo: reached)
            wrote(ticked.told)
            hasWorked = ticked.taken > 0
        }
        let number = round.add(1, ordering: .relaxed).oldValue
        if !hasWorked, try await events.isWalking() || number.isMultiple(of: Self.walkRounds) {
            let walked = try await events.walk(accounts)
            wrote(walked.told)
            hasWorked = walked.taken > 0
        }
        return hasWorked
    }

    /// What cannot be told keeps nothing else from being told: it is put off, and said.
    private func tick(upTo reached: PostgresTimestamp) async throws -> EventStore.Ticked {
        var limit = Self.portion
        while true {
            do {
                return try await events.tick(accounts, upTo: reached, atMost: limit)
            } catch let error as PostgresError where !error.isTransient {
                guard limit == 1 else {
                    limit = limit > 10 ? 10 : 1
                    continue
                }
                try await events.postponeFirst(upTo: reached)
                metrics.postpone()
                logger.error(
                    "Something that is due cannot be told; put off for an hour", metadata: ["error": "\(error)"])
                return EventStore.Ticked(taken: 1)
            }
        }
    }
}
