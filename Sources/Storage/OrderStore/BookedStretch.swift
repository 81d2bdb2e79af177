import Foundation
import Postgres
import Subscriptions

/// A row of `storehook.booked_stretches`: a further time in which a transaction counts.
struct BookedStretch: Sendable {
    let orderID: Int64
    let item: String
    let place: Int16
    let stretch: RecurringTerms.Stretch
}

extension PostgresQuery {
    static func bookStretches(_ stretches: [BookedStretch]) -> PostgresQuery {
        PostgresQuery(
            "orders.book_stretches",
            """
            insert into storehook.booked_stretches as known (order_id, item, place, starts_at, ends_at, end_reason)
            select * from unnest(
                   \(stretches.map(\.orderID)), \(stretches.map(\.item)), \(stretches.map(\.place)),
                   \(stretches.map { PostgresTimestamp($0.stretch.from) }),
                   \(stretches.map { PostgresTimestamp($0.stretch.until) }),
                   \(stretches.map { $0.stretch.endReason?.rawValue }))
                on conflict (order_id, item, place) do update
               set starts_at = excluded.starts_at, ends_at = excluded.ends_at, end_reason = excluded.end_reason
             where (known.starts_at, known.ends_at, known.end_reason)
                   is distinct from (excluded.starts_at, excluded.ends_at, excluded.end_reason)
            """
        ).keepingPlan()
    }

    /// Deletes surplus rows of transactions.
    static func trimStretches(_ items: [(order: Int64, item: String, count: Int16)]) -> PostgresQuery {
        PostgresQuery(
            "orders.trim_stretches",
            """
            delete from storehook.booked_stretches s
             using unnest(\(items.map(\.order)), \(items.map(\.item)), \(items.map(\.count))) as i (order_id, item, count)
             where (s.order_id, s.item) = (i.order_id, i.item) and s.place >= i.count
            """
        ).keepingPlan()
    }
}
