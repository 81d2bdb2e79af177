package import AccountStore
import EvidenceStore
package import Logging
import Postgres
import ServiceLifecycle

/// Counts accounts beside a worker, for statistics. One worker at a time does this.
package struct AccountCountClock: Service {
    private let accounts: AccountStore
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()

    /// A clock.
    /// - Parameter interval: the longest pause between two looks at whether a count is due.
    package init(_ accounts: AccountStore, interval: Duration = .seconds(5), logger: Logger) {
        self.accounts = accounts
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await signal.repeating("Counting accounts", every: interval, logger: logger) {
                // After a count all workers rest.
                _ = try await accounts.count()
                return false
            }
        } onGracefulShutdown: {
            signal.stop()
        }
    }
}
