import Foundation
import Postgres
import Subscriptions

/// When the first and the last evidence of a purchase were stored: what its answers call createdAt, and a part of updatedAt.
///
/// Notifications and records keep these dates for good, so that a rebuild finds the same ones.
struct StoredDates: Sendable, Hashable {
    var first: PostgresTimestamp
    var last: PostgresTimestamp

    init(first: PostgresTimestamp, last: PostgresTimestamp) {
        self.first = first
        self.last = last
    }

    /// The dates with those of one more piece of evidence.
    init(_ dates: StoredDates?, and storedAt: PostgresTimestamp) {
        first = min(dates?.first ?? storedAt, storedAt)
        last = max(dates?.last ?? storedAt, storedAt)
    }

    /// Columns that are null where an earlier release wrote a row.
    static let columns = ["first_stored_at", "last_stored_at"]
}

extension PostgresQuery {
    /// The dates of recorded purchases, by all that is recorded of them; the number of each from 1.
    ///
    /// For the few whose row does not say: one that an earlier release wrote, and one that evidence makes which is not its first.
    static func storedDates(of keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.stored_dates",
            """
            select key.n, min(e.received_at), max(e.received_at)
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   with ordinality as key (original_transaction_id, bundle_id, environment, n)
             cross join lateral (
                -- With an offset they are index lookups, whatever is thought of the tables' sizes.
                (select n.received_at from storehook.notifications n
                  where n.original_transaction_id = key.original_transaction_id and n.bundle_id = key.bundle_id
                    and n.environment = key.environment offset 0)
                union all
                (select r.received_at from storehook.records r
                  where r.original_transaction_id = key.original_transaction_id and r.bundle_id = key.bundle_id
                    and r.environment = key.environment offset 0)) e
             group by key.n
            """)
    }

    /// Fills the dates of rows that an earlier release wrote.
    static func fillStoredDates(_ dates: [(key: PurchaseKey, dates: StoredDates)]) -> PostgresQuery {
        PostgresQuery(
            "ledger.fill_stored_dates",
            """
            with known as (
                select * from unnest(
                    \(dates.map(\.key.originalTransactionID)), \(dates.map(\.key.bundleID)),
                    \(dates.map(\.key.environment)), \(dates.map(\.dates.first)), \(dates.map(\.dates.last)))
                    as known (original_transaction_id, bundle_id, environment, first_stored_at, last_stored_at)
            ), subscription as (
                update storehook.subscriptions t
                   set first_stored_at = known.first_stored_at, last_stored_at = known.last_stored_at
                  from known
                 where t.original_transaction_id = known.original_transaction_id and t.bundle_id = known.bundle_id
                   and t.environment = known.environment and t.first_stored_at is null
            )
            update storehook.one_time_purchases t
               set first_stored_at = known.first_stored_at, last_stored_at = known.last_stored_at
              from known
             where t.original_transaction_id = known.original_transaction_id and t.bundle_id = known.bundle_id
               and t.environment = known.environment and t.first_stored_at is null
            """)
    }
}
