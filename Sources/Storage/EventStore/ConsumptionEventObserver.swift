package import AccountStore
package import AppleRecords
import Events
package import Postgres
import PurchaseStore
package import Subscriptions

/// Writes an event when Apple was sent a customer's consumption data.
package struct ConsumptionEventObserver: ConsumptionObserver {
    private let events: EventStore
    private let accounts: AccountStore

    /// - Parameter accounts: determines the owners of purchases.
    package init(_ events: EventStore, _ accounts: AccountStore) {
        self.events = events
        self.accounts = accounts
    }

    /// Locks the purchase and its account from here on.
    package func answered(
        about purchase: PurchaseKey, _ transaction: String, outcome: ConsumptionOutcome,
        _ session: borrowing PostgresSession
    ) throws {
        try Ledger.hold([purchase], session)
        let held = try accounts.owners(of: [purchase], and: [], session)
        var writer = EventWriter(rules: events.rules, held)
        let owner = held.owners[purchase]
        for row in try session.query(.reported([purchase])) {
            writer.note(
                .consumptionAnswered(
                    purchase, of: owner, transactionID: transaction, answer: outcome.rawValue, cause: .clock,
                    at: writer.now),
                of: try ReportedPurchase(row, purchase))
        }
        let ids = writer.accounts.sorted()
        if !ids.isEmpty {
            for (place, row) in try session.query(.reported(ids)).enumerated() {
                writer.take(try ReportedAccess(row, ids[place]), nil)
            }
        }
        _ = try events.write(writer.numbered(), session)
    }
}

extension ConsumptionRequests {
    /// Requests whose answers are reported as events.
    package static func recordingEvents(_ pool: PostgresPool) -> ConsumptionRequests {
        ConsumptionRequests(pool, observer: ConsumptionEventObserver(EventStore(pool), AccountStore(pool)))
    }
}
