package import EvidenceStore
package import Logging
import Postgres
import ServiceLifecycle

/// Adds what a worker does to the overview, and writes the overview's next row where one is due. Any number of workers do this at once; one
/// of them writes each row.
package struct OverviewClock: Service {
    private let overview: OverviewStore
    private let tally: WorkTally
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()

    /// How many times as long as it works a clock rests: a database in which reading takes long has a cause for that, and the overview is not
    /// to add to it.
    private static let rest = 50

    /// A clock.
    /// - Parameters:
    ///   - tally: where the worker adds up what it does.
    ///   - interval: the longest pause between two looks at whether a row is due; each is a random half to all of it.
    package init(
        _ overview: OverviewStore, _ tally: WorkTally, interval: Duration = .seconds(2), logger: Logger
    ) {
        self.overview = overview
        self.tally = tally
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await signal.repeating("Writing the overview", every: interval, logger: logger) {
                let start = ContinuousClock.now
                try await step()
                let rest = (ContinuousClock.now - start) * Self.rest
                if rest > interval { await signal.rest(for: rest) }
                return false
            }
        } onGracefulShutdown: {
            signal.stop()
        }
    }

    /// Adds what was done since the last step. What cannot be written counts with the next step.
    /// - Returns: whether it wrote a row.
    @discardableResult
    package func step() async throws -> Bool {
        let done = tally.take()
        do {
            return try await overview.note(done)
        } catch {
            tally.add(done)
            throw error
        }
    }
}
