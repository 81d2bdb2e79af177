import AccountStore
import OrderStore
import Postgres
import PurchaseStore
import Subscriptions

/// Books what evidence changes: orders, their transactions, refunds.
struct OrderBooking: ChangeObserver {
    private let orders: OrderStore
    private let accounts: AccountStore

    init(_ pool: PostgresPool) {
        (orders, accounts) = (OrderStore(pool), AccountStore(pool))
    }

    func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws {
        let changes = applied.change.deltas.compactMap { delta -> OrderStore.Change? in
            let booked = delta.booked
            guard !booked.isEmpty else { return nil }
            let heardAt = delta.evidence.map(\.receivedAt).max() ?? applied.settled.clock
            return OrderStore.Change(delta.key, booked, heardAt: heardAt)
        }
        guard !changes.isEmpty else { return }
        let catalog = try applied.settled.catalog.map { try accounts.catalog($0, session) }
        try orders.book(changes, under: catalog, at: applied.settled.clock, session)
    }
}
