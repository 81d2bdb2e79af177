package import AccountStore
import EvidenceStore
package import Logging
package import OrderStore
import Postgres
package import PurchaseStore
import ServiceLifecycle

/// What happens to orders without evidence, beside a worker: reported attempts to buy are booked and matched with transactions, numbers are
/// dealt, orders show the period that has begun, purchases from before there were orders are booked, and so are reported restores. Any number of workers do this at once.
package struct OrderClock: Service {
    private let orders: OrderStore
    private let accounts: AccountStore
    private let ledger: Ledger
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()

    /// A clock.
    /// - Parameter interval: the longest pause between two looks: an order waits no longer for its number.
    package init(
        _ orders: OrderStore, _ accounts: AccountStore, _ ledger: Ledger, interval: Duration = .milliseconds(500),
        logger: Logger
    ) {
        self.orders = orders
        self.accounts = accounts
        self.ledger = ledger
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await signal.repeating("Numbering orders", every: interval, logger: logger) { try await step() }
        } onGracefulShutdown: {
            signal.stop()
        }
    }

    /// Does what is due.
    /// - Returns: whether there may be more.
    package func step() async throws -> Bool {
        guard try await orders.isDue() else { return false }
        // Attempts come before numbers are dealt: a transaction that completes an attempt takes over the attempt's number.
        let parts: [() async throws -> Int] = [
            { try await orders.bookAttempts(accounts) }, { try await orders.matchAttempts() },
            { try await orders.deal(accounts) }, { try await orders.turn() },
            { try await orders.walk(ledger, accounts) }, { try await orders.bookRestores(accounts) },
        ]
        var (done, failure) = (0, (any Error)?.none)
        for part in parts {
            // What one part cannot do holds up no other.
            do { done += try await part() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return done > 0
    }
}
