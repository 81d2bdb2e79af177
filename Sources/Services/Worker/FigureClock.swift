package import AccountStore
import Accounts
import EvidenceStore
package import FigureStore
import Foundation
package import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// Brings the figures up to date beside a worker: it sums the days of which something changed. One worker at a time does this.
package final class FigureClock: Service {
    private let figures: FigureStore
    private let accounts: AccountStore
    private let commissions: CommissionStore
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()
    private let portion = Mutex(FigureStore.usualPortion)

    /// How many times as long as it works a clock rests, so that it takes at most a tenth of a core.
    private static let rest = 9

    /// A clock.
    /// - Parameter interval: the shortest pause between two looks: a change is in the figures no sooner.
    package init(
        _ figures: FigureStore, _ accounts: AccountStore, interval: Duration = .seconds(2), logger: Logger
    ) {
        self.figures = figures
        self.accounts = accounts
        commissions = CommissionStore(figures.pool)
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await signal.repeating("Summing figures", every: interval, logger: logger) {
                let start = ContinuousClock.now
                let isMore = try await self.step()
                let rest = (ContinuousClock.now - start) * Self.rest
                if isMore || rest > self.interval { await self.signal.rest(for: rest) }
                return isMore
            }
        } onGracefulShutdown: {
            self.signal.stop()
        }
    }

    /// Sums what is due.
    /// - Returns: whether there may be more.
    package func step() async throws -> Bool {
        // Before the first catalog days are those of UTC.
        let catalog = try await accounts.current()?.catalog
        let (zone, currency) = (catalog?.timeZone.identifier ?? "UTC", catalog?.reportingCurrency)
        let plans = FigurePlan.all(of: catalog)
        let commission = try await commissions.counting()
        let hasFiscalMonths = catalog?.hasFiscalMonths ?? false
        guard
            try await figures.isDue(
                in: zone, currency: currency, plans: plans, commission: commission, hasFiscalMonths: hasFiscalMonths)
        else { return false }
        let (start, portion) = (ContinuousClock.now, portion.withLock { $0 })
        let isMore = try await figures.sum(
            in: zone, currency: currency, plans: plans, commission: commission, hasFiscalMonths: hasFiscalMonths,
            atMost: portion)
        let took = ContinuousClock.now - start
        self.portion.withLock { $0 = Self.portion(after: portion, took: took) }
        return isMore
    }

    /// Days differ in size: a transaction that sums takes a fraction of a second, so that a change waits for no long one.
    static func portion(after portion: Int64, took: Duration) -> Int64 {
        if took < .milliseconds(100) { return min(portion * 2, mostAtOnce) }
        return took > .milliseconds(400) ? max(portion / 2, 1) : portion
    }

    private static let mostAtOnce: Int64 = 1024
}
