package import AccountStore
import Accounts
import Postgres

extension OrderStore {
    /// Books reports of restores for figures: the outcome of each, without the account. One worker at a time does this.
    ///
    /// A pending restore has no outcome, and is passed over. Reports that an erasure has locked are deleted by it.
    /// - Returns: the number of reports that were booked or passed over.
    /// - Throws: `PostgresError`; `UnreadableCatalog` where a newer release applied the catalog.
    package func bookRestores(_ accounts: AccountStore, atMost limit: Int = 500) async throws -> Int {
        let options = TransactionOptions(
            idleTimeout: .seconds(10), goesByIndexes: true, name: "orders.book_restores")
        return try await pool.withTransaction(options) { session in
            guard try Self.takesTurn("attempts", session) != nil else { return 0 }
            let reports = try session.query(.unbookedRestores(limit)).map { row in
                (id: try row.decode("id", as: Int64.self), productID: try row.decode("product_id", as: String?.self))
            }
            guard !reports.isEmpty else { return 0 }
            let catalog = try accounts.current(session)?.catalog
            let apps = reports.map { $0.productID.flatMap { catalog?.app(ofProduct: $0) } ?? "" }
            try session.query(.bookRestores(reports.map(\.id), apps: apps))
            return reports.count
        }
    }
}

extension PostgresQuery {
    /// Restores that are not booked yet, locked. An erasure deletes them before or after this.
    fileprivate static func unbookedRestores(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.unbooked_restores",
            """
            select id, product_id
              from storehook.purchase_attempts
             where kind = 'restore' and not is_booked
             order by at, id
             limit \(Int64(limit))
               for update skip locked
            """)
    }

    /// A product that the catalog lacks is left out: an app may write anything in its place, even a name.
    fileprivate static func bookRestores(_ reports: [Int64], apps: [String]) -> PostgresQuery {
        PostgresQuery(
            "orders.book_restores",
            """
            with booked as (
                update storehook.purchase_attempts p
                   set is_booked = true
                  from unnest(\(reports), \(apps)) as b (id, bundle_id)
                 where p.id = b.id
                returning p.id, p.at, coalesce(p.environment, 'Production') as environment, b.bundle_id,
                          case when b.bundle_id <> '' then p.product_id else '' end as product_id, p.outcome
            )
            insert into storehook.reported_restores (at, environment, bundle_id, product_id, outcome)
            select at, environment, bundle_id, product_id, outcome from booked where outcome <> 'pending' order by id
            """)
    }
}
