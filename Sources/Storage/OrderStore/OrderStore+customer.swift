package import Accounts
package import Base
import Foundation
import Postgres
import PurchaseStore
package import Staff
package import Subscriptions

/// What one account has paid in all.
package struct LifetimeTotals: Sendable, Hashable {
    /// By currency.
    package var totals: [ListedOrder.Total] = []
    /// How many orders.
    package var orders: Int64 = 0
    /// How many of their transactions have no signed price.
    package var unpriced: Int64 = 0
    /// Whether there are more orders than are added up.
    package var isMore = false
}

extension OrderStore {
    /// The most orders of an account that are added up.
    private static let mostOfAccount: Int64 = 10_000

    /// What an account has paid, and what went back, over all of its orders that are listed.
    /// - Parameters:
    ///   - scope: orders of these apps alone.
    ///   - instant: as far as it had been made and heard of by then, see ``OrdersThen``; nil for now.
    /// - Throws: `PostgresError`.
    package func lifetime(
        of account: UniqueIdentifier, in environment: String, scope: StaffScope = .all, at instant: Timestamp? = nil
    ) async throws -> LifetimeTotals {
        let then = instant.map { OrdersThen(at: $0, under: nil) }
        let rows = try await pool.query(.lifetime(account, environment, scope, then, Self.mostOfAccount))
        var lifetime = LifetimeTotals()
        for row in rows {
            lifetime.orders = try row.decode("orders")
            lifetime.isMore = try row.decode("is_more")
            lifetime.unpriced += try row.decode("unpriced", as: Int64.self)
            guard let currency = try row.decode("currency", as: String?.self) else { continue }
            lifetime.totals.append(
                .init(currency: currency, paid: try row.decode("paid"), refunded: try row.decode("refunded")))
        }
        return lifetime
    }

    /// The orders that a text names, as ``show(_:under:)`` finds them, without their lines and without hidden ones.
    /// - Throws: `PostgresError`.
    package func orders(naming text: String, under catalog: Catalog?) async throws -> [ListedOrder] {
        guard let candidates = OrderCandidates(naming: text) else { return [] }
        return try await pool.withTransaction(Self.reading) { session in
            let rows = try session.query(.named(candidates))
            let ids = try rows.filter { try $0.decode("is_listed") }.map { try $0.decode("id", as: Int64.self) }
            return try Self.orders(ids, under: catalog, session)
        }
    }

    /// Whose some purchases are now; those of no account are left out.
    /// - Throws: `PostgresError`.
    package func owners(of purchases: [PurchaseKey]) async throws -> [PurchaseKey: UniqueIdentifier] {
        guard !purchases.isEmpty else { return [:] }
        return try await pool.query(.owners(of: purchases)).reduce(into: [:]) { owners, row in
            owners[try PurchaseKey(row)] = UniqueIdentifier(accountToken: try row.decode("token", as: UUID?.self))
        }
    }
}

extension PostgresQuery {
    fileprivate static func lifetime(
        _ account: UniqueIdentifier, _ environment: String, _ scope: StaffScope, _ then: OrdersThen?, _ most: Int64
    ) -> PostgresQuery {
        let apps: [String]? = if case .some(let apps) = scope { apps.sorted() } else { nil }
        let day = then.map { Int32(clamping: $0.lastDay.number) }
        return PostgresQuery(
            "orders.lifetime",
            """
            with mine as materialized (
                select k.id from (select distinct c.id from (\(candidates: .account(account))) c) k limit \(most + 1)
            ), listed as materialized (
                select o.id
                  from (select id from mine limit \(most)) k
                 cross join lateral (
                    select o.id from storehook.booked_orders o
                     where o.id = k.id and o.class_id is not null and o.environment = \(environment)
                       and (\(apps)::text[] is null or o.bundle_id = any(\(apps)))
                       and (\(day)::integer is null or o.day <= '1970-01-01'::date + \(day))
                       and (\(then?.end)::timestamptz is null
                            or exists (select from \(transactionsOf: "o.id", by: then?.end) t)) offset 0) o
            )
            select s.currency, coalesce(s.paid, 0) as paid, coalesce(s.refunded, 0) as refunded,
                   coalesce(s.unpriced, 0) as unpriced, n.orders, n.is_more
              from (select (select count(*) from listed) as orders, (select count(*) from mine) > \(most) as is_more) n
              left join (
                   select t.currency, coalesce(sum(t.price), 0)::bigint as paid,
                          coalesce(sum(t.refunded), 0)::bigint as refunded,
                          count(*) filter (where t.price is null) as unpriced
                     from listed l
                    cross join lateral (
                        select * from \(transactionsOf: "l.id", by: then?.end) t where not t.is_void offset 0) t
                    group by t.currency) s on true
             order by s.currency
            """)
    }

    fileprivate static func owners(of purchases: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "orders.owners",
            """
            select l.environment, l.bundle_id, l.original_transaction_id, \(unescaped: OrderOwner.token(of: "l")) as token
              from unnest(
                   \(purchases.map(\.environment)), \(purchases.map(\.bundleID)), \(purchases.map(\.originalTransactionID)))
                   l (environment, bundle_id, original_transaction_id)
            """)
    }
}
