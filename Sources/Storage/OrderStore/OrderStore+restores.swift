package import AccountStore
import Accounts
import Postgres

extension OrderStore {
    /// Books what apps reported of restores, for figures: how each ended, without the account. One worker does this at a time.
    ///
    /// A restore that is pending has not ended, and is passed over. What an erasure has locked is deleted.
    /// - Returns: how many reports were booked or passed over.
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
    /// Restores that nothing took note of, locked: an erasure deletes them before or after.
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

    /// What an app wrote in the place of a product that the catalog lacks may be anything, a name too, and is left out.
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
