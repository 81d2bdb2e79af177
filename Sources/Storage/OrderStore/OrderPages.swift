import Base
import Foundation
import Postgres

/// Finds the orders of a page, in a transaction that reads. Each way reads a bounded number of rows for every question:
///
/// - A few candidates of an index are looked at one by one.
/// - Without candidates, the first orders of the list are looked at: most filters fit a page of them.
/// - If these are too few, the fitting classes are looked up, some thousand rows. For a few classes, the latest order of each is looked up. Only
///   classes with latest orders on the page are read on.
/// - For many classes, the list is walked for some way, in its index alone. The classes lead to the orders behind that.
/// - The instant of a change is in no index of orders: a renewal would have to write to it. Transactions and attempts that changed since then lead
///   to their orders. Ids mostly rise with the days: for a list that ends at a day, orders with higher ids than any of the list are left out
///   before they are looked up. If there are still many, the list is walked and its rows are read. If that finds too few, the changed ones are
///   walked.
enum OrderPages {
    /// The first orders of a question, in order.
    static func marks(
        _ question: OrderQuestion, among candidates: OrderCandidates?, _ bounds: OrderBounds,
        _ session: borrowing PostgresSession
    ) throws -> [OrderMark] {
        guard !question.isEmpty else { return [] }
        if let candidates { return try read(.among(candidates, question), session) }
        return try walk(question, .glance(question, bounds.glance), bounds.glance, session) { rest in
            let classes: [Int32] = try session.query(.classes(rest)).one().decode(0)
            guard !classes.isEmpty else { return [] }
            try session.query(.byIndexes)
            guard let since = rest.filter.updatedSince else {
                guard classes.count > bounds.fewClasses else { return try read(.latest(rest, classes), session) }
                return try walk(rest, .walk(rest, classes, bounds.window), bounds.window, session) {
                    try read(.latest($0, classes), session)
                }
            }
            return try marksOfChanged(rest, classes, since, endsAtDay: question.isBoundedAbove, bounds, session)
        }
    }

    /// - Parameter endsAtDay: whether the list had a latest day before any of it was walked: then the ids of its orders are bounded.
    private static func marksOfChanged(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp, endsAtDay: Bool, _ bounds: OrderBounds,
        _ session: borrowing PostgresSession
    ) throws -> [OrderMark] {
        let changes = try count(.changes(question, since, atMost: bounds.moreChanges + 1), session)
        if changes <= bounds.fewChanges { return try read(.changed(question, classes, since), session) }
        guard changes > bounds.moreChanges else {
            return try marksOfSome(question, classes, since, changes, endsAtDay: endsAtDay, bounds, session)
        }
        // Among very many, most rows fit: reading them is faster than a list of all.
        let window = classes.count <= bounds.someClasses ? bounds.window : bounds.readWindow
        return try walk(question, .walkReading(question, classes, window), window, session) { rest in
            try marksOfSome(rest, classes, since, changes, endsAtDay: true, bounds, session)
        }
    }

    /// For a question with more changes than can be looked up, except those that the end of the list leaves out.
    private static func marksOfSome(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp, _ changes: Int, endsAtDay: Bool,
        _ bounds: OrderBounds, _ session: borrowing PostgresSession
    ) throws -> [OrderMark] {
        var (question, changes) = (question, changes)
        if endsAtDay {
            question.highestID = try session.query(.highest(question)).one().decode(0, as: Int64?.self) ?? 0
            changes = try count(.changes(question, since, atMost: bounds.moreChanges + 1), session)
            if changes <= bounds.fewChanges { return try read(.changed(question, classes, since), session) }
        }
        let isNarrow = classes.count <= bounds.someClasses
        guard changes <= bounds.moreChanges else {
            return try read(
                isNarrow ? .latest(question, classes) : .walkAmongChanged(question, classes, since, nil), session)
        }
        if isNarrow { return try read(.changedOf(question, classes, since), session) }
        let walk = PostgresQuery.walkAmongChanged(question, classes, since, bounds.window)
        return try self.walk(question, walk, bounds.window, session) { [changes] rest in
            // Looking an order up by its number takes as long as walking some.
            let left = try count(.left(rest), session)
            return try read(
                left > bounds.walkedPerLookUp * changes
                    ? .changed(rest, classes, since) : .walkAmongChanged(rest, classes, since, nil), session)
        }
    }

    private static func count(_ query: PostgresQuery, _ session: borrowing PostgresSession) throws -> Int {
        try session.query(query).one().decode(0)
    }

    /// - Parameters:
    ///   - statement: walks some orders of the list.
    ///   - window: how many of them.
    ///   - further: finds the orders behind the walk.
    private static func walk(
        _ question: OrderQuestion, _ statement: PostgresQuery, _ window: Int, _ session: borrowing PostgresSession,
        _ further: (OrderQuestion) throws -> [OrderMark]
    ) throws -> [OrderMark] {
        let found = try read(statement, session)
        guard found.count < question.limit, let end = try read(.end(question, window), session).first else {
            return found
        }
        var rest = question
        rest.mark = end
        rest.limit -= found.count
        return try found + further(rest)
    }

    private static func read(_ query: PostgresQuery, _ session: borrowing PostgresSession) throws -> [OrderMark] {
        try session.query(query).map { try OrderMark($0) }
    }
}

extension PostgresQuery {
    /// For the later statements of the transaction: a wrong estimate must not lead to a scan of a table.
    fileprivate static let byIndexes = PostgresQuery(
        "orders.settings",
        """
        select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
               set_config('max_parallel_workers_per_gather', '0', true)
        """)

    fileprivate static func glance(_ question: OrderQuestion, _ window: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.glance",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from (select o.* from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc limit \(window)) o
             cross join lateral (
                select from storehook.order_classes c where c.id = o.class_id and \(ofClasses: question) offset 0) c
             where true\(besides: question)
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    fileprivate static func classes(_ question: OrderQuestion) -> PostgresQuery {
        PostgresQuery(
            "orders.classes_of",
            "select coalesce(array_agg(c.id order by c.id), '{}') from storehook.order_classes c where \(ofClasses: question)"
        )
    }

    fileprivate static func among(_ candidates: OrderCandidates, _ question: OrderQuestion) -> PostgresQuery {
        PostgresQuery(
            "orders.among",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from (\(candidates: candidates)) k
             cross join lateral (
                select o.* from storehook.booked_orders o
                 where o.id = k.id and \(standing: question)\(besides: question) offset 0) o
             cross join lateral (
                select from storehook.order_classes c where c.id = o.class_id and \(ofClasses: question) offset 0) c
             where \(owned: question)
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    fileprivate static func walk(_ question: OrderQuestion, _ classes: [Int32], _ window: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.walk",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from (select o.day, o.id, o.class_id, o.number
                      from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc limit \(window)) o
             -- As a CASE, it is evaluated row by row, and the rest is not read once there are enough.
             where case when o.class_id in (select * from unnest(\(classes))) then true else false end\(besides: question)
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    /// The last of so many orders of the list; no row where it ends before.
    static func end(_ question: OrderQuestion, _ window: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.walk_end",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from storehook.booked_orders o where \(standing: question)
             order by o.day desc, o.id desc offset \(window - 1) limit 1
            """)
    }

    /// The classes that may be on a page: if a page's number of classes have a later latest order than a class has, that class is not on it.
    fileprivate static func latest(_ question: OrderQuestion, _ classes: [Int32]) -> PostgresQuery {
        PostgresQuery(
            "orders.latest",
            """
            with head as materialized (
                select k.class_id, o.day, o.id
                  from unnest(\(classes)) k (class_id)
                 cross join lateral (\(latest: 1, question, isHead: true, "o.class_id = k.class_id")) o
                 order by o.day desc, o.id desc limit \(Int64(question.limit))
            )
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from head
             cross join lateral (\(latest: question.limit, question, isHead: false, "o.class_id = head.class_id and (o.day, o.id) <= (head.day, head.id)")) o
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    fileprivate static func changes(_ question: OrderQuestion, _ since: Timestamp, atMost most: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.changes",
            "select count(*) from (\(changedOrders: question, since: since) limit \(most)) t")
    }

    /// The highest id among the orders of the list's days: one entry of the index is read for each day.
    fileprivate static func highest(_ question: OrderQuestion) -> PostgresQuery {
        PostgresQuery(
            "orders.highest",
            """
            with recursive latest as (
                (select o.day, o.id from storehook.booked_orders o where \(standing: question)
                  order by o.day desc, o.id desc limit 1)
                union all
                select n.day, n.id
                  from latest
                 cross join lateral (
                    select o.day, o.id from storehook.booked_orders o
                     where o.class_id is not null and o.day < latest.day\(from: question)
                     order by o.day desc, o.id desc limit 1) n
            )
            select max(id) from latest
            """)
    }

    /// About how many orders are left to walk.
    fileprivate static func left(_ question: OrderQuestion) -> PostgresQuery {
        PostgresQuery(
            "orders.left",
            """
            select coalesce(sum(d.last), 0)::bigint from storehook.order_days d
             where d.day <= least(\(question.mark?.day.description)::text::date, \(question.filter.to?.description)::text::date)
               and d.day >= coalesce(\(question.filter.from?.description)::text::date, '-infinity')
            """)
    }

    /// Days and classes are read in the index; the rows of orders only until there are enough.
    fileprivate static func changed(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.changed",
            """
            select to_char(k.day, 'YYYY-MM-DD') as day, k.id
              from (select o.day, o.id
                      from storehook.booked_orders o
                     where o.id = any(array(select distinct t.order_id from (\(changedOrders: question, since: since)) t))
                       and \(standing: question)
                       and case when o.class_id in (select * from unnest(\(classes))) then true else false end
                     order by o.day desc, o.id desc offset 0) k
             cross join lateral (
                select from storehook.booked_orders o where o.id = k.id\(besides: question) offset 0) o
             order by k.day desc, k.id desc limit \(Int64(question.limit))
            """)
    }

    /// All orders of a few classes are read in the index, and only the rows of those that changed.
    fileprivate static func changedOf(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.changed_of",
            """
            select to_char(k.day, 'YYYY-MM-DD') as day, k.id
              from (select o.day, o.id
                      from unnest(\(classes)) c (id)
                     cross join lateral (
                        select o.day, o.id from storehook.booked_orders o
                         where o.class_id = c.id and \(standing: question) offset 0) o
                     where case when o.id in (\(changedOrders: question, since: since)) then true else false end
                     order by o.day desc, o.id desc offset 0) k
             cross join lateral (
                select from storehook.booked_orders o where o.id = k.id\(besides: question) offset 0) o
             order by k.day desc, k.id desc limit \(Int64(question.limit))
            """)
    }

    /// The row of each order of a fitting class is read.
    fileprivate static func walkReading(
        _ question: OrderQuestion, _ classes: [Int32], _ window: Int
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.walk_reading",
            """
            select to_char(k.day, 'YYYY-MM-DD') as day, k.id
              from (select o.day, o.id, o.class_id
                      from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc offset 0 limit \(window)) k
             cross join lateral (
                select from storehook.booked_orders o where o.id = k.id\(besides: question) offset 0) o
             where case when k.class_id in (select * from unnest(\(classes))) then true else false end
             order by k.day desc, k.id desc limit \(Int64(question.limit))
            """)
    }

    /// The row of an order is read only where the order changed.
    /// - Parameter window: how many orders are walked; nil for all.
    fileprivate static func walkAmongChanged(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp, _ window: Int?
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.walk_among_changed",
            """
            select to_char(k.day, 'YYYY-MM-DD') as day, k.id
              from (select o.day, o.id, o.class_id
                      from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc offset 0 limit \(window)) k
             cross join lateral (
                select from storehook.booked_orders o where o.id = k.id\(besides: question) offset 0) o
             where case when k.id in (\(changedOrders: question, since: since)) then k.class_id in (select * from unnest(\(classes))) else false end
             order by k.day desc, k.id desc limit \(Int64(question.limit))
            """)
    }
}

extension OrderQuestion {
    /// Whether the list ends at a day.
    fileprivate var isBoundedAbove: Bool { mark != nil || filter.to != nil }

    /// Whether the question has a condition that the index of classes lacks.
    fileprivate var needsRow: Bool { isNumbered || places != nil || filter.updatedSince != nil }
}

extension PostgresQuery.StringInterpolation {
    /// The latest orders of a class, as columns `day` and `id`.
    /// - Parameters:
    ///   - isHead: whether the question bounds them from above, and not the condition.
    ///   - condition: names the class.
    fileprivate mutating func appendInterpolation(
        latest limit: Int, _ question: OrderQuestion, isHead: Bool, _ condition: String
    ) {
        appendLiteral("select k.day, k.id from (select o.day, o.id from storehook.booked_orders o where \(condition)")
        if isHead {
            appendLiteral(" and ")
            appendInterpolation(standing: question)
        } else {
            appendInterpolation(from: question)
        }
        appendLiteral(" order by o.day desc, o.id desc offset 0) k")
        if question.needsRow {
            appendLiteral(" cross join lateral (select from storehook.booked_orders o where o.id = k.id")
            appendInterpolation(besides: question)
            appendLiteral(" offset 0) o")
        }
        appendLiteral(" order by k.day desc, k.id desc limit ")
        appendInterpolation(Int64(limit))
    }

    /// A condition on `o`: that it is the account's of the question.
    mutating func appendInterpolation(owned question: OrderQuestion) {
        guard let account = question.filter.account else { return appendLiteral("true") }
        appendLiteral("\(OrderOwner.token(of: "o")) = ")
        appendInterpolation(UUID(account))
    }
}
