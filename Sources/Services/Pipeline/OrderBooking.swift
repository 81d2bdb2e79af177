import AccountStore
import Base
import OrderStore
import Postgres
import PurchaseStore
import Subscriptions

/// Books what evidence changes: orders, their transactions, refunds. Attempts to buy of the accounts concerned are looked at again.
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
        if !changes.isEmpty {
            let catalog = try applied.settled.catalog.map { try accounts.catalog($0, session) }
            try orders.book(changes, under: catalog, at: applied.settled.clock, session)
        }
        try orders.recheckAttempts(
            after: changes, of: applied.settled.owners, and: winners(of: applied), session)
    }

    /// The accounts that purchases have come to, whether or not these changed.
    private func winners(of applied: EvidencePipeline.Applied) -> Set<UniqueIdentifier> {
        let settled = applied.settled
        let won = applied.bindings.filter { $0.value == .bound || $0.value == .transferred }.keys
        // An act of staff brings no evidence.
        let moved = applied.change.deltas.isEmpty ? applied.change.purchases : Array(settled.formerOwners.keys)
        return Set((moved + won).compactMap { settled.owners[$0] })
    }
}
