package import AccountStore
import Base
import EvidenceStore
package import Logging
package import OrderStore
import Postgres
package import PurchaseStore
import ServiceLifecycle

/// What happens to orders without evidence, beside a worker: reported attempts to buy are booked and matched with transactions, numbers are
/// dealt, orders show the period that has begun, and purchases from before there were orders are booked. Any number of workers do this at once.
package struct OrderClock: Service {
    private let orders: OrderStore
    private let accounts: AccountStore
    private let ledger: Ledger
    private let interval: Duration
    private let logger: Logger
    private let signal = WorkSignal()
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(10))

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
            await loop()
        } onGracefulShutdown: {
            signal.stop()
        }
    }

    private func loop() async {
        var failures = 0
        while !signal.isStopped, !Task.isCancelled {
            do {
                let hasWorked = try await step()
                failures = 0
                if !hasWorked { await signal.wait(atMost: interval * Double.random(in: 0.5...1)) }
            } catch {
                if Task.isCancelled || signal.isStopped { return }
                failures += 1
                // Once per outage, not once a second.
                if failures == 1 {
                    logger.warning("Numbering orders failed; trying on", metadata: ["error": "\(error)"])
                }
                await signal.rest(for: Self.backoff.pause(afterFailures: failures))
            }
        }
    }

    /// Does what is due.
    /// - Returns: whether there may be more.
    package func step() async throws -> Bool {
        guard try await orders.isDue() else { return false }
        let reported = try await orders.bookAttempts(accounts)
        // Before numbers are dealt: a transaction that completes an attempt takes over the attempt's number.
        let matched = try await orders.matchAttempts()
        let dealt = try await orders.deal(accounts)
        let turned = try await orders.turn()
        let walked = try await orders.walk(ledger, accounts)
        return reported + matched + dealt + turned + walked > 0
    }
}
