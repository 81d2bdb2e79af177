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

        /// All requests.
        package init() {}
    }

    /// The parts of the list's cursor.
    package static let cursorParts = 1

    /// Requests, the latest first.
    /// - Parameter cursor: goes on behind a request.
    package func list(
        _ filter: Filter, after cursor: ListCursor?, limit: Int
    ) async throws -> ListPage<RecordedRefundRequest> {
        let order = filter.order.flatMap { OrderNumberPrefix($0)?.whole }
        // Another text than a number has no order.
        guard filter.order == nil || order != nil else { return ListPage() }
        let account = filter.account.map { UUID($0) }
        let last = cursor.flatMap { Int64($0.parts[0]) } ?? .max
        let apps: [String]? = if case .some(let apps) = filter.scope { apps.sorted() } else { nil }
        let rows = try await pool.query(
            PostgresQuery(
                "refunds.list",
                """
                select \(unescaped: RecordedRefundRequest.columns), clock_timestamp() as now
                  from \(unescaped: RecordedRefundRequest.tables)
                 where r.id < \(last)
                   and (\(filter.state?.rawValue)::text is null or r.state = \(filter.state?.rawValue))
                   and (not \(filter.isNotRefunded)::boolean
                        or r.state = 'approved' and r.decided_at <= now() - make_interval(days => \(Int32(RefundRequest.patienceDays))))
                   and (\(order?.day.description)::text is null
                        or o.day = \(order?.day.description)::date and o.number = \(order?.place))
                   and (\(account)::uuid is null or exists (
                            select from storehook.account_lines l
                             where l.token = \(account) and l.environment = r.environment and l.bundle_id = r.bundle_id
                               and l.original_transaction_id = r.original_transaction_id))
                   and (\(filter.app)::text is null or r.bundle_id = \(filter.app))
                   and (\(filter.environment)::text is null or r.environment = \(filter.environment))
                   and (\(apps)::text[] is null or r.bundle_id = any(\(apps)))
                 order by r.id desc
                 limit \(limit + 1)
                """))
        let found = try rows.map {
            try RecordedRefundRequest($0, at: Timestamp($0.decode("now", as: PostgresTimestamp.self)))
        }
        let page = Array(found.prefix(limit))
        let isMore = found.count > limit
        return ListPage(page, next: isMore ? page.last.map { ListCursor(behind: ["\($0.number.value)"]) } : nil)
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
    package func show(_ number: RefundNumber, to scope: StaffScope = .all) async throws -> RecordedRefundRequest? {
        var filter = Filter()
        filter.scope = scope
        return try await list(filter, after: ListCursor(behind: ["\(number.value + 1)"]), limit: 1).elements.first {
            $0.number == number
        }
    }
}
