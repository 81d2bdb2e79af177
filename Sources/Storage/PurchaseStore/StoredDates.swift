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

    /// The columns, each with what it has to be by a derived row `d`: the dates of all evidence are never within those of some.
    static let completions: [String: @Sendable (String) -> String] = [
        "first_stored_at": { "least(\($0).first_stored_at, d.first_stored_at)" },
        "last_stored_at": { "greatest(\($0).last_stored_at, d.last_stored_at)" },
    ]
}

extension PostgresQuery {
    /// The dates of recorded purchases, by all that is recorded of them; the number of each from 1.
    ///
    /// For purchases whose row has no dates: an earlier release wrote it, or earlier evidence made no row. And for every one-time purchase,
    /// whose row is not read before.
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
            """
        ).keepingPlan()
    }
}
