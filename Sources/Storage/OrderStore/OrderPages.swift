import Base
import Foundation
import Postgres

/// Where the orders of a page are, in a transaction that reads. Each way reads a bounded number of rows, whatever is asked for:
///
/// - few candidates that an index leads to are looked at one by one;
/// - else the classes that fit are looked for first, some thousand rows. Of few classes the latest order of each is looked up, and only the
///   classes whose latest ones are the page's are read on;
/// - of many classes the list itself is walked for some way, in its index alone; what is not found there, the classes lead to;
/// - the instant of a change is in no index, so that a renewal need not write to one. Few transactions that changed since then lead to
///   their orders; else the list is walked.
enum OrderPages {
    /// Up to so many classes are looked up at once.
    private static let fewClasses = 400
    /// How many orders are walked in the index before the classes are looked up: some milliseconds.
    private static let window: Int64 = 50_000
    /// Likewise, where each order's row has to be read.
    private static let windowOfRows: Int64 = 3000
    /// Up to so many changed transactions lead to their orders at once.
    private static let fewChanges: Int64 = 1000
    /// Likewise, where the walk did not find enough.
    private static let moreChanges: Int64 = 10_000

    /// The first orders of a question, in order.
    static func marks(
        _ question: OrderQuestion, among candidates: OrderCandidates?, _ session: borrowing PostgresSession
    ) throws -> [OrderMark] {
        if let candidates { return try session.query(.among(candidates, question)).map { try OrderMark($0) } }
        let classes: [Int32] = try session.query(.classes(question)).one().decode(0)
        guard !classes.isEmpty else { return [] }
        try session.query(.byIndexes)
        guard let since = question.filter.updatedSince else {
            guard classes.count > fewClasses else { return try read(.latest(question, classes), session) }
            return try walk(question, classes, window, session) { .latest($0, classes) }
        }
        if try areAtMost(fewChanges, since, session) { return try read(.changed(question, classes, since), session) }
        return try walk(question, classes, windowOfRows, session) { rest in
            try areAtMost(moreChanges, since, session)
                ? .changed(rest, classes, since) : .walkAmongChanged(rest, classes, since)
        }
    }

    /// - Parameter further: finds what the walk did not come to.
    private static func walk(
        _ question: OrderQuestion, _ classes: [Int32], _ window: Int64, _ session: borrowing PostgresSession,
        _ further: (OrderQuestion) throws -> PostgresQuery
    ) throws -> [OrderMark] {
        let found = try read(.walk(question, classes, window), session)
        guard found.count < question.limit, let end = try read(.end(question, window), session).first else {
            return found
        }
        var rest = question
        rest.mark = end
        rest.limit -= found.count
        return try found + read(try further(rest), session)
    }

    private static func read(_ query: PostgresQuery, _ session: borrowing PostgresSession) throws -> [OrderMark] {
        try session.query(query).map { try OrderMark($0) }
    }

    /// Whether so few transactions changed since an instant.
    private static func areAtMost(
        _ most: Int64, _ since: Timestamp, _ session: borrowing PostgresSession
    ) throws -> Bool {
        try session.query(.changesEnd(since, most)).isEmpty
    }
}

extension PostgresQuery {
    /// For what comes after it in the transaction: an estimate that is wrong must not lead to reading a table from end to end.
    fileprivate static let byIndexes = PostgresQuery(
        "orders.settings",
        """
        select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
               set_config('max_parallel_workers_per_gather', '0', true)
        """)

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

    fileprivate static func walk(_ question: OrderQuestion, _ classes: [Int32], _ window: Int64) -> PostgresQuery {
        PostgresQuery(
            "orders.walk",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from (select o.day, o.id, o.class_id, o.number\(unescaped: question.filter.updatedSince != nil ? ", o.updated_at" : "")
                      from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc limit \(window)) o
             -- As a case it is asked of each row in turn, and the rest is left unread once there are enough.
             where case when o.class_id in (select * from unnest(\(classes))) then true else false end\(besides: question)
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    fileprivate static func end(_ question: OrderQuestion, _ window: Int64) -> PostgresQuery {
        PostgresQuery(
            "orders.walk_end",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from storehook.booked_orders o where \(standing: question)
             order by o.day desc, o.id desc offset \(window - 1) limit 1
            """)
    }

    /// A page of the latest orders has none of a class whose own latest order is older than as many others.
    fileprivate static func latest(_ question: OrderQuestion, _ classes: [Int32]) -> PostgresQuery {
        PostgresQuery(
            "orders.latest",
            """
            with head as materialized (
                select k.class_id, o.day, o.id
                  from unnest(\(classes)) k (class_id)
                 cross join lateral (
                    select o.day, o.id from storehook.booked_orders o
                     where o.class_id = k.class_id and \(standing: question)\(besides: question)
                     order by o.day desc, o.id desc limit 1) o
                 order by o.day desc, o.id desc limit \(Int64(question.limit))
            )
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from head
             cross join lateral (
                select o.day, o.id from storehook.booked_orders o
                 where o.class_id = head.class_id and (o.day, o.id) <= (head.day, head.id)
                   and \(standing: question)\(besides: question)
                 order by o.day desc, o.id desc limit \(Int64(question.limit))) o
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    /// A row where more transactions than so many changed.
    fileprivate static func changesEnd(_ since: Timestamp, _ most: Int64) -> PostgresQuery {
        PostgresQuery(
            "orders.changes_end",
            """
            select 1 from storehook.booked_transactions t where t.changed_at >= \(PostgresTimestamp(since))
            offset \(most) limit 1
            """)
    }

    fileprivate static func changed(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.changed",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id
              from storehook.booked_orders o
             where o.id = any(array(select distinct t.order_id from storehook.booked_transactions t
                                     where t.changed_at >= \(PostgresTimestamp(since))))
               and \(standing: question)\(besides: question)
               and case when o.class_id in (select * from unnest(\(classes))) then true else false end
             order by o.day desc, o.id desc limit \(Int64(question.limit))
            """)
    }

    /// The row of an order is read only where one of its transactions changed.
    fileprivate static func walkAmongChanged(
        _ question: OrderQuestion, _ classes: [Int32], _ since: Timestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.walk_among_changed",
            """
            select to_char(k.day, 'YYYY-MM-DD') as day, k.id
              from (select o.day, o.id, o.class_id
                      from storehook.booked_orders o where \(standing: question)
                     order by o.day desc, o.id desc offset 0) k
             cross join lateral (
                select from storehook.booked_orders o where o.id = k.id\(besides: question) offset 0) o
             where case when k.class_id in (select * from unnest(\(classes)))
                        then k.id in (select t.order_id from storehook.booked_transactions t
                                       where t.changed_at >= \(PostgresTimestamp(since)))
                        else false end
             order by k.day desc, k.id desc limit \(Int64(question.limit))
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    fileprivate mutating func appendInterpolation(owned question: OrderQuestion) {
        guard let account = question.filter.account else { return appendLiteral("true") }
        appendLiteral("\(OrderOwner.token(of: "o")) = ")
        appendInterpolation(UUID(account))
    }
}
