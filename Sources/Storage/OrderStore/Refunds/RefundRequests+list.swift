package import Base
import Foundation
import Postgres
package import Staff
package import Subscriptions

extension RefundRequests {
    /// A filter of requests. A request has to fit all members.
    package struct Filter: Sendable, Hashable {
        /// In this state.
        package var state: RefundRequest.State?
        /// Approved 30 days ago, and not refunded by Apple.
        package var isNotRefunded = false
        /// About this order, by its number.
        package var order: String?
        /// About a purchase that this account has or had.
        package var account: UniqueIdentifier?
        /// Of this app.
        package var app: String?
        /// In this environment.
        package var environment: String?
        /// Of these apps alone.
        package var scope = StaffScope.all
        /// Only those that wait for a decision, and in another order: the next due first, and then the oldest first.
        package var isByDue = false
        /// Made by this instant, and in the state of then; nil for now.
        package var at: Timestamp?

        /// All requests.
        package init() {}
    }

    /// How many requests one page looks through at most, where neither an order nor an account is asked for; and how many that wait for a
    /// decision, the oldest ones, are put into the order in which they are due. No index knows what waited at an instant of the past: then
    /// these are looked for among as many of the latest requests as any page looks through.
    package static let (mostLookedThrough, mostByDue): (Int64, Int64) = (10_000, 2_000)

    /// The parts of the list's cursor. By their due: when, in microseconds since 1970 or `-`, and the number.
    package static func cursorParts(byDue isByDue: Bool) -> Int { isByDue ? 2 : 1 }

    /// Whether a cursor is one of ``list(_:after:limit:)``.
    package static func isCursor(_ cursor: ListCursor, byDue isByDue: Bool) -> Bool {
        guard isByDue else { return Int64(cursor.parts[0]) != nil }
        return RequestMark(cursor) != nil
    }

    /// Requests, the latest first, or in the order in which they are due. Of an instant of the past, each as it stood then.
    /// - Parameter cursor: goes on behind a request.
    /// - Throws: `PostgresError`.
    package func list(
        _ filter: Filter, after cursor: ListCursor?, limit: Int
    ) async throws -> ListPage<RecordedRefundRequest> {
        let order = filter.order.flatMap { OrderNumberPrefix($0)?.whole }
        // Another text than a number has no order.
        guard filter.order == nil || order != nil else { return ListPage() }
        let account = filter.account.map { UUID($0) }
        let then = filter.at.map { PostgresTimestamp.end(of: $0) }
        let behind = try await pool.place(behind: then, in: "storehook.staff_refund_requests", by: "created_at")
        let place = filter.isByDue ? nil : cursor.flatMap { Int64($0.parts[0]) }
        let last = min(place ?? .max, behind)
        let mark = filter.isByDue ? cursor.flatMap { RequestMark($0) } : nil
        let apps: [String]? = if case .some(let apps) = filter.scope { apps.sorted() } else { nil }
        let elements = PostgresQuery(
            "refunds.list",
            """
            select \(unescaped: RecordedRefundRequest.columns), \(unescaped: RecordedRefundRequest.heard),
                   clock_timestamp() as now
              from \(requests: filter, before: last) \(besideRequestAt: then)
             where r.created_at <= s.at
               and (\(filter.state?.rawValue)::text is null or s.state = \(filter.state?.rawValue))
               and (not \(filter.isByDue)::boolean or s.state = 'pending')
               and (not \(filter.isNotRefunded)::boolean
                    or s.state = 'approved'
                       and r.decided_at <= least(s.at, now()) - make_interval(days => \(Int32(RefundRequest.patienceDays))))
               and (\(order?.day.description)::text is null
                    or o.day = \(order?.day.description)::date and o.number = \(order?.place))
               and (\(account)::uuid is null or exists (
                        select from storehook.account_lines l
                         where l.token = \(account) and l.environment = r.environment and l.bundle_id = r.bundle_id
                           and l.original_transaction_id = r.original_transaction_id))
               and (\(filter.app)::text is null or r.bundle_id = \(filter.app))
               and (\(filter.environment)::text is null or r.environment = \(filter.environment))
               and (\(apps)::text[] is null or r.bundle_id = any(\(apps)))
               and (\(mark == nil) or (coalesce(due.due_at, 'infinity'), r.id)
                   > (coalesce(\(mark?.dueAt)::timestamptz, 'infinity'), \(mark?.id ?? 0)))
             order by \(unescaped: filter.isByDue ? "due.due_at nulls last, r.id" : "r.id desc")
             limit \(limit + 1)
            """)
        // One snapshot, so that nothing falls between the requests and the place where the page stopped.
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "refunds.list")
        return try await pool.withTransaction(options) { session -> ListPage<RecordedRefundRequest> in
            let rows = try session.query(elements)
            let page = try rows.prefix(limit).compactMap { row -> RecordedRefundRequest? in
                if let instant = filter.at { return try RecordedRefundRequest(row, then: instant) }
                return try RecordedRefundRequest(row, at: Timestamp(row.decode("now", as: PostgresTimestamp.self)))
            }
            if rows.count > limit { return ListPage(page, next: page.last.map { RequestMark($0).cursor(filter) }) }
            guard let window = filter.window,
                let row = try session.query(.end(of: filter, before: last, lookingThrough: window)).first
            else { return ListPage(page) }
            if filter.isByDue { return ListPage(page, lookedThrough: Int(window)) }
            let next = ListCursor(behind: ["\(try row.decode(0, as: Int64.self))"])
            return ListPage(page, next: next, lookedThrough: Int(window))
        }
    }

    /// The number of requests in a state.
    /// - Parameter apps: the apps of the requests; nil for all.
    package func count(
        in state: RefundRequest.State, environment: String, apps: Set<String>?
    ) async throws -> Int64 {
        try await pool.query(
            PostgresQuery(
                "refunds.count",
                """
                select count(*) from storehook.staff_refund_requests
                 where state = \(state.rawValue) and environment = \(environment)
                   and (\(apps == nil) or bundle_id = any (\(apps.map { $0.sorted() } ?? [])))
                """
            )
        ).one().decode(0)
    }

    /// One request; nil where it does not exist, or the actor does not see it.
    /// - Parameter instant: as it stood then; nil for now.
    package func show(
        _ number: RefundNumber, to scope: StaffScope = .all, at instant: Timestamp? = nil
    ) async throws -> RecordedRefundRequest? {
        var filter = Filter()
        (filter.scope, filter.at) = (scope, instant)
        return try await list(filter, after: ListCursor(behind: ["\(number.value + 1)"]), limit: 1).elements.first {
            $0.number == number
        }
    }
}

extension RefundRequests.Filter {
    /// How many requests a page looks through; nil where an index finds what is asked for.
    fileprivate var window: Int64? {
        guard order == nil, account == nil else { return nil }
        return isOldestFirst ? RefundRequests.mostByDue : RefundRequests.mostLookedThrough
    }
    /// Whether it looks through the oldest ones, and not through the latest.
    private var isOldestFirst: Bool { isByDue && at == nil }
    /// The order in which it looks through them.
    fileprivate var direction: String { isOldestFirst ? "asc" : "desc" }
    /// The state that the requests are in now, where there is one.
    fileprivate var standing: RefundRequest.State? {
        guard at == nil else { return nil }
        return isByDue ? .pending : isNotRefunded ? .approved : state
    }
}

/// A place in the list of requests.
private struct RequestMark {
    var id: Int64
    var dueAt: PostgresTimestamp?

    init(_ request: RecordedRefundRequest) {
        (id, dueAt) = (request.number.value, request.dueAt.map { PostgresTimestamp($0) })
    }

    /// Reads a cursor by due.
    init?(_ cursor: ListCursor) {
        guard cursor.parts.count == 2, let id = Int64(cursor.parts[1]) else { return nil }
        self.id = id
        guard cursor.parts[0] != "-" else { return }
        guard let microseconds = Int64(cursor.parts[0]), microseconds.magnitude < 1 << 58 else { return nil }
        dueAt = PostgresTimestamp(microsecondsSince1970: microseconds)
    }

    func cursor(_ filter: RefundRequests.Filter) -> ListCursor {
        guard filter.isByDue else { return ListCursor(behind: ["\(id)"]) }
        return ListCursor(behind: [dueAt.map { "\($0.microsecondsSince1970)" } ?? "-", "\(id)"])
    }
}

extension PostgresQuery {
    /// The last of the requests that a page looks through, or where they stand in their own order, the first one behind them: none where there
    /// are fewer.
    fileprivate static func end(
        of filter: RefundRequests.Filter, before last: Int64, lookingThrough window: Int64
    ) -> PostgresQuery {
        PostgresQuery(
            "refunds.list_end",
            """
            select q.id from storehook.staff_refund_requests q where \(place: filter, before: last)
             order by q.id \(unescaped: filter.direction) offset \(filter.isByDue ? window : window - 1) limit 1
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    /// The requests `r` that a page looks through.
    fileprivate mutating func appendInterpolation(requests filter: RefundRequests.Filter, before last: Int64) {
        appendLiteral("(select q.* from storehook.staff_refund_requests q where ")
        appendInterpolation(place: filter, before: last)
        if let window = filter.window { appendLiteral(" order by q.id \(filter.direction) limit \(window)") }
        appendLiteral(") r")
    }

    /// The condition that a request `q` stands where a page looks.
    fileprivate mutating func appendInterpolation(place filter: RefundRequests.Filter, before last: Int64) {
        appendLiteral("q.id < ")
        appendInterpolation(last)
        guard let state = filter.standing else { return }
        appendLiteral(" and q.state = ")
        appendInterpolation(state.rawValue)
    }
}
