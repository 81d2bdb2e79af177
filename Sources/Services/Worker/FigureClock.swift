package import AccountStore
import Accounts
import Base
import EvidenceStore
package import FigureStore
import Foundation
package import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// Keeps the figures up to date beside a worker: sums days with changes. One worker at a time does this.
package final class FigureClock: Service {
    private let figures: FigureStore
    private let accounts: AccountStore
    private let commissions: CommissionStore
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()
    private let portion = Mutex(FigureStore.usualPortion)

    /// A clock.
    /// - Parameter interval: the shortest pause between two looks. A change is in the figures at the next one.
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
                let rest = BackgroundWork.rest(after: ContinuousClock.now - start)
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
        // Before the first catalog, days are in UTC.
        let current = try await accounts.current()
        let catalog = current?.catalog
        let (zone, currency) = (catalog?.timeZone.identifier ?? "UTC", catalog?.reportingCurrency)
        let plans = FigurePlan.all(of: catalog)
        let commission = try await commissions.counting()
        let hasFiscalMonths = catalog?.hasFiscalMonths ?? false
        guard
            try await figures.isDue(
                in: zone, currency: currency, plans: plans, catalogVersion: current?.version, commission: commission,
                hasFiscalMonths: hasFiscalMonths)
        else { return false }
        let (start, portion) = (ContinuousClock.now, portion.withLock { $0 })
        let isMore = try await figures.sum(
            in: zone, currency: currency, plans: plans, catalogVersion: current?.version, commission: commission,
            hasFiscalMonths: hasFiscalMonths, atMost: portion)
        let took = ContinuousClock.now - start
        self.portion.withLock { $0 = Self.portion(after: portion, took: took) }
        return isMore
    }

    /// The next portion. Days differ in size, and each transaction should take a fraction of a second: a change waits for it.
    static func portion(after portion: Int64, took: Duration) -> Int64 {
        if took < .milliseconds(100) { return min(portion * 2, mostAtOnce) }
        return took > .milliseconds(400) ? max(portion / 2, 1) : portion
    }

    private static let mostAtOnce: Int64 = 1024
}
