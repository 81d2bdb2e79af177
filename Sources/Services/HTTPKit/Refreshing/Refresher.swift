import Base
package import Logging
import ServiceLifecycle
import Synchronization

/// A value that is read again every few seconds, and kept in memory between the readings.
///
/// Nothing waits for a reading and nothing fails with it: while the source is unreachable, the last value stays, with
/// the instant of its reading.
package final class Refresher<Value: Sendable>: Service {
    /// What was read, and when.
    package struct Reading: Sendable {
        /// The value.
        package let value: Value
        /// When the reading began: the value is at least as new as this.
        package let begunAt: ContinuousClock.Instant
    }

    private struct State {
        var latest: Reading?
        var isFailing = false
    }

    private let interval: Duration
    private let warning: Logger.Message
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    private let read: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// A value that has not been read yet.
    /// - Parameters:
    ///   - interval: the time between two readings, give or take a quarter.
    ///   - warning: what is logged with the first error of a row of failed readings.
    ///   - clock: dates the readings.
    ///   - sleep: waits between two readings.
    ///   - read: reads the value from its source.
    package init(
        every interval: Duration, warning: Logger.Message, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        read: @escaping @Sendable () async throws -> Value
    ) {
        self.interval = interval
        self.warning = warning
        self.logger = logger
        self.clock = clock
        self.sleep = sleep
        self.read = read
    }

    /// The last reading that succeeded; nil if none has.
    package var latest: Reading? { state.withLock(\.latest) }

    /// Reads now.
    /// - Throws: what reading throws; then the last value stays.
    package func refresh() async throws {
        let begunAt = clock()
        let value = try await read()
        state.withLock { state in
            // One that began earlier, and took longer, says less.
            if let latest = state.latest, latest.begunAt > begunAt { return }
            state.latest = Reading(value: value, begunAt: begunAt)
        }
    }

    /// Reads at once and then once each interval, until graceful shutdown.
    package func run() async throws {
        await repeatUntilShutdown(pause: { [interval] in interval.jittered }, sleep: sleep) {
            do {
                try await self.refresh()
                self.state.withLock { $0.isFailing = false }
            } catch {
                if Task.isCancelled { return }
                // Once per outage, not every few seconds.
                let isFirst = self.state.withLock { state in
                    defer { state.isFailing = true }
                    return !state.isFailing
                }
                if isFirst { self.logger.warning(self.warning, metadata: ["error": "\(error)"]) }
            }
        }
    }
}
