package import AppleRecords
import EvidenceStore
package import Logging
import Postgres
import ServiceLifecycle

/// Counts what is due and not heard of, beside a worker. One worker at a time does this.
package struct DueClock: Service {
    private let ends: DueEnds
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()

    /// A clock.
    /// - Parameter interval: the longest pause between two looks at whether a count is due.
    package init(_ ends: DueEnds, interval: Duration = .seconds(5), logger: Logger) {
        self.ends = ends
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await signal.repeating("Counting what is due", every: interval, logger: logger) {
                // Behind a count all workers rest.
                _ = try await ends.count()
                return false
            }
        } onGracefulShutdown: {
            signal.stop()
        }
    }
}
