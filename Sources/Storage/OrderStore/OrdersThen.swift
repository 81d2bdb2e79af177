import Accounts
import Base
import Postgres
import PurchaseStore

/// Orders as they stood at an instant of the past: those that had been made and heard of by then, with the transactions and refunds that had been,
/// and the status that these give.
///
/// What each transaction says is what is known of it now, such as its end, and so is whose the order is. Attempts that apps reported are left out:
/// nothing says how they stood. No index knows what was heard by when. So a page looks through ``OrderBounds/then`` orders at most; it may be
/// short, and even empty, and have a next one.
struct OrdersThen: Sendable {
    /// The end of the instant.
    let end: PostgresTimestamp
    private let catalog: Catalog?
    /// The last day of an order that can have been made by then, in any zone.
    let lastDay: CalendarDay

    /// - Parameter catalog: names products; nil before the first.
    init(at instant: Timestamp, under catalog: Catalog?) {
        end = PostgresTimestamp.end(of: instant)
        self.catalog = catalog
        lastDay = CalendarDay(number: end.millisecondsSince1970 / 86_400_000 + 1)
    }

    /// A page of the orders that some ways lead to.
    /// - Parameter most: how many orders of each way are looked through.
    func page(
        _ ways: [(question: OrderQuestion, candidates: OrderCandidates?)], limit: Int, lookingThrough most: Int,
        _ session: borrowing PostgresSession
    ) throws -> ListPage<ListedOrder> {
        let window = max(most, limit + 1)
        var marks: Set<OrderMark> = []
        // Where the first of the ways stopped: behind it, orders of that way may be missing.
        var stop: OrderMark?
        for way in ways {
            var question = way.question
            question.filter.to = min(question.filter.to ?? lastDay, lastDay)
            guard !question.isEmpty else { continue }
            let rows = try session.query(.marksThen(question, way.candidates, end, window))
            let found = try rows.map { try OrderMark($0) }
            marks.formUnion(found)
            guard way.candidates == nil, found.count < question.limit,
                let last = try session.query(.end(question, window)).first.map({ try OrderMark($0) })
            else { continue }
            stop = min(stop ?? last, last)
        }
        let found = marks.sorted().filter { mark in stop.map { mark <= $0 } ?? true }
        let shown = try orders(found.prefix(limit).map(\.id), session)
        if found.count > limit { return ListPage(shown, next: shown.last?.mark.cursor) }
        guard let stop else { return ListPage(shown) }
        return ListPage(shown, next: stop.cursor, lookedThrough: window)
    }

    /// Orders by the numbers of their rows, in that order, without those that had not been made or heard of.
    func orders(_ ids: [Int64], _ session: borrowing PostgresSession) throws -> [ListedOrder] {
        guard !ids.isEmpty else { return [] }
        return try session.query(.ordersThen(ids, end, until: lastDay)).map { try ListedOrder($0, under: catalog) }
    }
}

extension PostgresQuery {
    /// The first orders of a question by what they were then, in order.
    /// - Parameter window: how many orders of the list are looked through.
    fileprivate static func marksThen(
        _ question: OrderQuestion, _ candidates: OrderCandidates?, _ end: PostgresTimestamp, _ window: Int
    ) -> PostgresQuery {
        var plain = question
        // When an order changed last is stored of now.
        plain.filter.updatedSince = nil
        let since = question.filter.updatedSince.map { PostgresTimestamp($0) }
        return PostgresQuery(
            "orders.marks_then",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from (\(looked: plain, candidates, window)) o
             cross join lateral (
                select o.environment, o.bundle_id, coalesce(shown.product_id, '') as product_id, s.status,
                       coalesce(shown.currency, '') as currency, coalesce(shown.storefront, '') as storefront, s.changed_at
                  from (\(shownOf: "o.id", by: end)) shown
                 cross join lateral (
                    select \(unescaped: standingColumns), max(t.changed_at) as changed_at
                      from \(transactionsOf: "o.id", by: end) t where not t.is_void) s
                offset 0) c
             where \(ofClasses: question) and (\(since)::timestamptz is null or c.changed_at >= \(since))
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    /// Orders with the columns that `ListedOrder` reads, as they were then.
    fileprivate static func ordersThen(
        _ ids: [Int64], _ end: PostgresTimestamp, until day: CalendarDay
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.rows_then",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id, storehook.order_number(o.day, o.number) as number,
                   o.environment, o.bundle_id, o.order_key, o.original_transaction_id, o.plan_type, s.status,
                   s.refunded_at, case when o.created_at <= \(end) then o.created_at end as created_at,
                   coalesce(s.changed_at, o.updated_at) as updated_at, t.transaction_id, t.product_id, t.starts_at, t.ends_at,
                   t.price, t.currency, t.storefront, m.currencies, m.paid, m.refunded, m.unpriced, m.unknown_refunds,
                   w.token, \(unescaped: AccountName.column(token: "w.token"))
              from unnest(\(ids)) with ordinality as k (id, place)
             cross join lateral (select * from storehook.booked_orders o where o.id = k.id offset 0) o
             cross join lateral (\(shownOf: "o.id", by: end)) t
             cross join lateral (
                   select \(unescaped: standingColumns), max(t.changed_at) as changed_at
                     from \(transactionsOf: "o.id", by: end) t where not t.is_void) s
             cross join lateral (
                   select coalesce(array_agg(s.currency order by s.currency) filter (where s.currency is not null), '{}')
                              as currencies,
                          coalesce(array_agg(s.paid order by s.currency) filter (where s.currency is not null), '{}') as paid,
                          coalesce(array_agg(s.refunded order by s.currency) filter (where s.currency is not null), '{}')
                              as refunded,
                          coalesce(sum(s.unpriced), 0)::bigint as unpriced,
                          coalesce(sum(s.unknown_refunds), 0)::bigint as unknown_refunds
                     from (select \(unescaped: totalColumns)
                             from \(transactionsOf: "o.id", by: end) t where not t.is_void group by t.currency) s) m
             cross join lateral (select \(unescaped: OrderOwner.token(of: "o")) as token offset 0) w
              left join storehook.accounts a on a.token = w.token
             where o.class_id is not null and o.day <= '1970-01-01'::date + \(Int32(clamping: day.number))
             order by k.place
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    /// A statement: the orders of a list that a page looks through, in its order.
    fileprivate mutating func appendInterpolation(
        looked question: OrderQuestion, _ candidates: OrderCandidates?, _ window: Int
    ) {
        guard let candidates else {
            appendLiteral("select o.* from (select o.* from storehook.booked_orders o where ")
            appendInterpolation(standing: question)
            appendLiteral(" order by o.day desc, o.id desc limit ")
            appendInterpolation(Int64(window))
            appendLiteral(") o where true")
            return appendInterpolation(besides: question)
        }
        appendLiteral("select o.* from (")
        appendInterpolation(candidates: candidates)
        appendLiteral(
            ") k cross join lateral (select o.* from storehook.booked_orders o where o.id = k.id and ")
        appendInterpolation(standing: question)
        appendInterpolation(besides: question)
        appendLiteral(" offset 0) o where ")
        appendInterpolation(owned: question)
    }
}
