package import Base
package import Foundation
package import Postgres

/// A request of Apple's for consumption data, as it stands.
package struct ListedConsumptionRequest: Sendable, Hashable {
    /// What a request can be.
    package enum State: String, Sendable, Hashable, CaseIterable, JSONConvertible {
        /// Nothing was sent.
        case open
        /// An answer is on its way.
        case sending
        /// Apple has an answer.
        case answered
        /// It could have been answered, and was not in time.
        case late
        /// Apple refused the answer.
        case refused
        /// Apple may have an answer.
        case unknown
        /// It was not answered, by choice or without consent.
        case notAnswered = "not_answered"
    }

    /// The notification.
    package var notificationUUID: UUID
    /// The app and environment.
    package var scope: AppEnvironment
    /// What it is about.
    package var transactionID: String?
    /// What was bought.
    package var productID: String?
    /// What it was bought with: the account.
    package var accountToken: UUID?
    /// Why the customer wants the money back.
    package var reason: String?
    /// When Apple signed the request.
    package var signedAt: PostgresTimestamp
    /// Twelve hours later.
    package var deadline: PostgresTimestamp
    /// How many seconds are left until then, where it may still be answered; nil of others. Of an instant of the past, by that instant.
    package var secondsLeft: Int64?
    /// How it stands.
    package var state: State
    /// Why it is not answered.
    package var why: String?
    /// Whether the customer consents now; nil where nothing was ever recorded.
    package var consent: Bool?
    /// The answer to Apple, as JSON.
    package var answer: String?
    /// The rule of the policy.
    package var rule: String?
    /// When it was sent to Apple.
    package var sentAt: PostgresTimestamp?
    /// The person who sent it by hand.
    package var sentBy: String?
}

extension ListedConsumptionRequest {
    /// As it stood at an instant, by the dates of its changes. Why it was not answered so far has no date. A try to send that was taken back
    /// counts as not made.
    fileprivate mutating func turn(to instant: PostgresTimestamp, settledAt: PostgresTimestamp?) {
        let isSent = sentAt.map { $0 <= instant } ?? false
        if settledAt.map({ $0 > instant }) ?? true {
            state = isSent ? .sending : .open
            why = nil
        }
        if !isSent { (answer, rule, sentAt, sentBy) = (nil, nil, nil, nil) }
    }
}

/// Which requests are asked for. Nil is any.
package struct ConsumptionFilter: Sendable, Hashable {
    /// Signed within so many days.
    package var days = 7
    /// In this state.
    package var state: ListedConsumptionRequest.State?
    /// Of these apps, by their bundle ids.
    package var apps: Set<String>?
    /// In this environment.
    package var environment: String?
    /// About a transaction that was bought for this account.
    package var account: UniqueIdentifier?
    /// Only those that may still be answered, and in another order: the first deadline first.
    package var isByDue = false
    /// Signed and received by this instant, and in the state of then; nil for now.
    package var at: Timestamp?

    /// Those of the last week.
    package init() {}
}

extension ConsumptionRequests {
    /// The parts of a request's ``ListCursor``: when Apple signed it, in microseconds since 1970, and its notification.
    package static let cursorParts = 2

    /// How many requests one page looks through at most, where no account is asked for.
    package static let mostLookedThrough = 10_000

    /// Whether a cursor is one of ``list(_:after:limit:)``.
    package static func isCursor(_ cursor: ListCursor) -> Bool { RequestMark(cursor) != nil }

    /// Requests, the latest first, or in the order of their deadlines. Of an instant of the past, each as it stood then.
    /// - Parameters:
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through, where no account is asked for; nil for all that there are.
    /// - Throws: `PostgresError`.
    package func list(
        _ filter: ConsumptionFilter, after cursor: ListCursor? = nil, limit: Int,
        lookingThrough most: Int? = ConsumptionRequests.mostLookedThrough
    ) async throws -> ListPage<ListedConsumptionRequest> {
        let mark = cursor.flatMap { RequestMark($0) }
        let then = filter.at.map { PostgresTimestamp.end(of: $0) }
        // What may still be answered is half a day old at most. An account has few purchases: by these its requests are found.
        let isFew = filter.isByDue || filter.account != nil
        let window = isFew ? nil : most.map { Int64(max($0, limit)) }
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "consumption.list")
        return try await pool.withTransaction(options) { session -> ListPage<ListedConsumptionRequest> in
            var end: PostgresTimestamp?
            if let window {
                end = try session.query(.floor(filter, mark, window)).first?.decode(0, as: PostgresTimestamp.self)
                // More than a page looks through were signed at one instant: they are read at once.
                if end == mark?.signedAt { end = nil }
            }
            let rows = try session.query(.list(filter, mark, end, limit))
            let found = try rows.prefix(limit).map { row -> ListedConsumptionRequest in
                var request = try ListedConsumptionRequest(row)
                if let then { request.turn(to: then, settledAt: try row.decode("settled_at")) }
                return request
            }
            if rows.count > limit { return ListPage(found, next: found.last.map { RequestMark($0).cursor }) }
            guard let floor = end, let looked = window else { return ListPage(found) }
            return ListPage(found, next: RequestMark(upTo: floor).cursor, lookedThrough: Int(looked))
        }
    }
}

extension ConsumptionFilter {
    /// When the latest of the requests may have been signed that a page behind a mark has; nil for any time.
    fileprivate func end(behind mark: RequestMark?) -> PostgresTimestamp? {
        let then = at.map { PostgresTimestamp.end(of: $0) }
        return [isByDue ? nil : mark?.signedAt, then].compactMap(\.self).min()
    }
}

extension PostgresQuery {
    /// When the last of the requests was signed that a page looks through; no row where there are fewer.
    fileprivate static func floor(
        _ filter: ConsumptionFilter, _ mark: RequestMark?, _ window: Int64
    ) -> PostgresQuery {
        let then = filter.at.map { PostgresTimestamp.end(of: $0) }
        return PostgresQuery(
            "consumption.list_end",
            """
            select n.signed_at from storehook.notifications n
             where n.type = 'CONSUMPTION_REQUEST'
               and n.signed_at > coalesce(\(then)::timestamptz, now()) - make_interval(days => \(Int32(clamping: filter.days)))
               and n.signed_at <= coalesce(\(filter.end(behind: mark))::timestamptz, 'infinity')
             order by n.signed_at desc offset \(window) limit 1
            """)
    }

    /// - Parameter floor: those that were signed later.
    fileprivate static func list(
        _ filter: ConsumptionFilter, _ mark: RequestMark?, _ floor: PostgresTimestamp?, _ limit: Int
    ) -> PostgresQuery {
        let (state, apps) = (filter.state?.rawValue, filter.apps.map { $0.sorted() })
        let then = filter.at.map { PostgresTimestamp.end(of: $0) }
        let own: PostgresQuery =
            if let account = filter.account {
                """
                with own as (
                    select l.original_transaction_id from storehook.account_lines l where l.token = \(UUID(account))
                )
                """
            } else {
                ""
            }
        let isOwn =
            filter.account == nil
            ? "true" : "r.original_transaction_id in (select p.original_transaction_id from own p)"
        let (behind, order) = filter.isByDue ? (">", "asc") : ("<", "desc")
        return PostgresQuery(
            "consumption.list",
            """
            \(embedding: own)
            select r.*, r.answer::text as answer_text,
                   case when \(then)::timestamptz is null then r.consent
                        else (select k.granted from storehook.consumption_consents k
                               where k.app_account_token = r.app_account_token and k.recorded_at <= \(then)
                               order by k.id desc limit 1) end as consent_then,
                   case when s.state in ('open', 'sending')
                        then extract(epoch from r.deadline - coalesce(\(then)::timestamptz, clock_timestamp()))::bigint end as seconds_left
              from storehook.consumption_requests r
             -- As `turn(to:settledAt:)` has it.
             cross join lateral (
                select case when r.settled_at <= t.at then r.state
                            when r.sent_at <= t.at then 'sending'
                            else 'open' end as state
                  from (select coalesce(\(then)::timestamptz, 'infinity') as at) t) s
             where r.signed_at > coalesce(\(then)::timestamptz, now()) - make_interval(days => \(Int32(clamping: filter.days)))
               and r.signed_at <= coalesce(\(filter.end(behind: mark))::timestamptz, 'infinity')
               and (\(then)::timestamptz is null
                    or (select n.received_at from storehook.notifications n
                         where n.notification_uuid = r.notification_uuid) <= \(then))
               and (\(floor)::timestamptz is null or r.signed_at > \(floor))
               and (not \(filter.isByDue)::boolean
                    or r.signed_at > coalesce(\(then)::timestamptz, now()) - interval '12 hours'
                       and s.state in ('open', 'sending'))
               and (\(mark == nil) or (r.signed_at, r.notification_uuid)
                   \(unescaped: behind) (\(mark?.signedAt)::timestamptz, \(mark?.notificationUUID)::uuid))
               and (\(state)::text is null or s.state = \(state))
               and (\(apps)::text[] is null or r.bundle_id = any (\(apps)))
               and (\(filter.account.map { UUID($0) })::uuid is null
                    or r.app_account_token = \(filter.account.map { UUID($0) }))
               and (\(filter.environment)::text is null or r.environment = \(filter.environment))
               and \(unescaped: isOwn)
             order by r.signed_at \(unescaped: order), r.notification_uuid \(unescaped: order)
             limit \(Int64(limit + 1))
            """)
    }
}

extension ListedConsumptionRequest {
    fileprivate init(_ row: PostgresRow) throws {
        notificationUUID = try row.decode("notification_uuid")
        scope = try AppEnvironment(row)
        transactionID = try row.decode("transaction_id")
        productID = try row.decode("product_id")
        accountToken = try row.decode("app_account_token")
        reason = try row.decode("reason")
        signedAt = try row.decode("signed_at")
        deadline = try row.decode("deadline")
        secondsLeft = try row.decode("seconds_left")
        state = try row.decode("state", among: State.self)
        why = try row.decode("why")
        consent = try row.decode("consent_then")
        answer = try row.decode("answer_text")
        rule = try row.decode("rule")
        sentAt = try row.decode("sent_at")
        sentBy = try row.decode("sent_by")
    }
}

/// A place in the list of requests.
private struct RequestMark {
    var signedAt: PostgresTimestamp
    var notificationUUID: UUID

    init(_ request: ListedConsumptionRequest) {
        (signedAt, notificationUUID) = (request.signedAt, request.notificationUUID)
    }

    /// In the order of the latest first, before all that were signed at an instant.
    init(upTo signedAt: PostgresTimestamp) {
        self.signedAt = signedAt
        notificationUUID = UUID(UniqueIdentifier(high: .max, low: .max))
    }

    init?(_ cursor: ListCursor) {
        guard cursor.parts.count == ConsumptionRequests.cursorParts, let microseconds = Int64(cursor.parts[0]),
            microseconds.magnitude < 1 << 58, let uuid = UniqueIdentifier(cursor.parts[1])
        else { return nil }
        signedAt = PostgresTimestamp(microsecondsSince1970: microseconds)
        notificationUUID = UUID(uuid)
    }

    var cursor: ListCursor {
        ListCursor(behind: ["\(signedAt.microsecondsSince1970)", UniqueIdentifier(notificationUUID).description])
    }
}

extension ConsumptionRequests: MonitoredStore {
    /// See ``statuses()``.
    package static let monitored = "consumption_status"

    /// What is open in each environment, and until when the first request of an app is to be answered.
    package func samples() async throws -> [MetricSample] {
        let statuses = try await statuses()
        let open = Dictionary(statuses.map { ($0.scope.environment, $0.open) }, uniquingKeysWith: +)
        return open.sorted { $0.key < $1.key }.map { environment, open in
            MetricSample("storehook_consumption_open", [("environment", environment)], Double(open))
        }
            + statuses.compactMap { status in
                status.timeLeft.map { MetricSample("storehook_consumption_deadline_seconds", status.scope.labels, $0) }
            }
    }

    /// How it stands, for each app and environment with open requests or failures within a day.
    package func statuses() async throws -> [ConsumptionStatus] {
        try await pool.query(
            PostgresQuery(
                "consumption.statuses",
                """
                select s.*, extract(epoch from s.first_deadline - clock_timestamp())::double precision as seconds_left
                  from storehook.consumption_status s
                 order by s.bundle_id, s.environment
                """)
        ).map { row in
            ConsumptionStatus(
                scope: try AppEnvironment(row),
                open: try row.decode("open"), wanted: try row.decode("wanted"),
                timeLeft: try row.decode("seconds_left", as: Double?.self).map { .seconds($0) },
                why: try row.decode("why"), late: try row.decode("late"), refused: try row.decode("refused"),
                unknown: try row.decode("unknown"))
        }
    }
}

/// How it stands with an app's requests for consumption data.
package struct ConsumptionStatus: Sendable, Hashable {
    /// The app and environment.
    package var scope: AppEnvironment
    /// Not settled.
    package var open: Int64
    /// Of those, with a consent and a rule: they are to be answered.
    package var wanted: Int64
    /// Until the first deadline of those; nil where there is none.
    package var timeLeft: Duration?
    /// What one of those waits for.
    package var why: String?
    /// Within a day: not answered in time.
    package var late: Int64
    /// Within a day: refused by Apple.
    package var refused: Int64
    /// Within a day: sent, and it is not known whether Apple has it.
    package var unknown: Int64
}
