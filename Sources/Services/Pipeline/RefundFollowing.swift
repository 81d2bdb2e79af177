import AccountStore
import OrderStore
import Postgres
import PurchaseStore
import Subscriptions

/// Ends requests of the staff for refunds that Apple made, after ``OrderBooking`` has booked these.
struct RefundFollowing: ChangeObserver {
    func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws {
        let purchases = applied.change.deltas.filter(\.mayMoveMoneyBack).map(\.key)
        guard !purchases.isEmpty else { return }
        try RefundRequests.follow(purchases, at: applied.settled.clock, session)
    }
}

extension PurchaseDelta {
    /// Whether the batch has a refund of the purchase, or it had one before that the batch may have reversed. Nothing is derived for this.
    fileprivate var mayMoveMoneyBack: Bool {
        evidence.contains { $0.refundedAt != nil } || periodsBefore.contains { $0.revokedAt != nil }
            || (oneTimeBefore?.sales.contains { $0.revokedAt != nil } ?? false)
    }
}
