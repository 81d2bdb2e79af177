import Postgres
import PurchaseStore
import Subscriptions

extension EventStore {
    /// Reads what transactions were sold for that neither the evidence nor the state last reported says: one statement, and none where there
    /// are no such transactions. Mostly there are none: rows that earlier releases wrote, refunds of old periods that came without
    /// their record, and first reports of what is known for long.
    func complete(_ writer: inout EventWriter, _ session: borrowing PostgresSession) throws {
        let missing = writer.missingTerms
        guard !missing.isEmpty else { return }
        for row in try session.query(.terms(of: missing)) {
            let transaction = missing[Int(try row.decode("n", as: Int64.self)) - 1]
            writer.add(try SaleTerms(row), of: transaction)
        }
    }
}

extension EventWriter {
    /// A transaction that an event names.
    struct NamedTransaction: Sendable, Hashable {
        /// The place of the purchase in the writer.
        var place: Int
        var key: PurchaseKey
        var id: String
    }
}

extension PostgresQuery {
    fileprivate static func terms(of transactions: [EventWriter.NamedTransaction]) -> PostgresQuery {
        PostgresQuery(
            "events.terms",
            """
            select key.n, t.price, t.currency, t.storefront, t.quantity, t.offer_type, t.offer_id, t.offer_discount_type
              from unnest(\(transactions.map(\.id)), \(transactions.map(\.key.bundleID)),
                          \(transactions.map(\.key.environment)))
                   with ordinality as key (transaction_id, bundle_id, environment, n)
             cross join lateral (
                   select * from storehook.transactions t
                    where t.transaction_id = key.transaction_id and t.bundle_id = key.bundle_id
                      and t.environment = key.environment
                    limit 1) t
            """
        ).keepingPlan()
    }
}

extension SaleTerms {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            price: try row.decode("price"), currency: try row.decode("currency"),
            storefront: try row.decode("storefront"),
            offer: Offer(
                type: try row.decode("offer_type", as: Int16?.self).map { Int64($0) }, id: try row.decode("offer_id"),
                discountType: try row.decode("offer_discount_type")),
            quantity: try row.decode("quantity", as: Int32?.self).map { Int64($0) })
    }
}
