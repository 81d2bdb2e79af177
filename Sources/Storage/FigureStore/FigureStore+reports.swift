package import Base
import Figures
import Postgres

extension FigureStore {
    /// The books of the days of a report, in Production, by Apple's days. They are read from the rows, and include rows that are not summed yet.
    /// - Parameters:
    ///   - days: in ``AppleReport/timeZone``.
    ///   - apps: the apps that count; nil for all.
    /// - Throws: `PostgresError`.
    package func books(of days: ClosedRange<CalendarDay>, apps: Set<String>? = nil) async throws -> ReportedBooks {
        // Without a preference for indexes: a month of millions of rows is scanned.
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "figures.books")
        return try await pool.withTransaction(options) { session in
            var books = ReportedBooks()
            for row in try session.query(.books(of: days, apps), deadline: .seconds(300)) {
                let count = try row.decode("count", as: Int64.self)
                switch try row.decode("kind", as: String.self) {
                case "reversal": books.reversals += count
                case "part": books.partialRefunds += count
                case let kind:
                    guard let kind = ReportKey.Kind(rawValue: kind),
                        let (key, totals) = try Self.reported(row, kind, count)
                    else {
                        books.unpriced += count
                        continue
                    }
                    // A sum stays where the next one would not fit 64 bits: no report has such a sum.
                    books.totals[key] = (books.totals[key] ?? ReportTotals()).adding(totals) ?? books.totals[key]
                }
            }
            return books
        }
    }

    /// The key of transactions of one price in a report; nil where a part of it is not signed.
    private static func reported(
        _ row: PostgresRow, _ kind: ReportKey.Kind, _ count: Int64
    ) throws -> (ReportKey, ReportTotals)? {
        guard let product = try row.decode("product_id", as: String?.self),
            let storefront = try row.decode("storefront", as: String?.self),
            let currency = try row.decode("currency", as: String?.self),
            let price = try row.decode("price", as: Int64?.self)
        else { return nil }
        let quantity = max(1, try row.decode("quantity", as: Int64.self))
        let key = ReportKey(
            productID: product, storefront: storefront, currency: currency, unitPrice: price / quantity, kind: kind)
        let (units, isBeyond) = count.multipliedReportingOverflow(by: quantity)
        let (amount, overflows) = count.multipliedReportingOverflow(by: price)
        return isBeyond || overflows ? nil : (key, ReportTotals(units: units, amount: amount))
    }
}

extension PostgresQuery {
    fileprivate static func books(of days: ClosedRange<CalendarDay>, _ apps: Set<String>?) -> PostgresQuery {
        PostgresQuery(
            "figures.books",
            """
            with span as materialized (
                select \(unescaped: DayStart.sql("first", in: "zone")) as starts,
                       \(unescaped: DayStart.sql("last + 1", in: "zone")) as ends
                  from (select \(AppleReport.timeZone)::text as zone, \(days.lowerBound.description)::text::date as first,
                               \(days.upperBound.description)::text::date as last) d
            ), rows as (
                select 'sale' as kind, t.order_id, t.product_id, t.storefront, t.currency, t.price, t.quantity
                  from span
                  join storehook.booked_transactions t on t.starts_at >= span.starts and t.starts_at < span.ends and not t.is_void
                union all
                select case when r.type = 'refund_reversed' then 'reversal'
                            when r.amount is distinct from t.price then 'part' else 'refund' end,
                       r.order_id, t.product_id, t.storefront, t.currency, t.price, t.quantity
                  from span
                  join storehook.booked_refunds r on r.at >= span.starts and r.at < span.ends and r.type in ('refund', 'refund_reversed')
                  join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item) and not t.is_void
                 where t.price is distinct from 0
            )
            select r.kind, r.product_id, r.storefront, r.currency, r.price, r.quantity, count(*) as count
              from rows r
              join storehook.booked_orders o on o.id = r.order_id
             where o.class_id is not null and o.environment = \(Environment.production.rawValue)
               and (\(apps == nil) or o.bundle_id = any (\(apps.map { $0.sorted() } ?? [])))
             group by r.kind, r.product_id, r.storefront, r.currency, r.price, r.quantity
            """)
    }
}
