import Postgres
import PurchaseStore

/// Keeps the list of products that customers hold.
struct ProductNoting: ChangeObserver {
    private let products = PurchasedProducts()

    func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws {
        guard !applied.change.deltas.isEmpty else { return }
        try products.note(applied.change.deltas, session)
    }
}
