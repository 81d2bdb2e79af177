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

    /// Those of the last week.
    package init() {}
}

extension ConsumptionRequests {
    /// The parts of a request's ``ListCursor``: when Apple signed it, in microseconds since 1970, and its notification.
    package static let cursorParts = 2

    /// Whether a cursor is one of ``list(_:after:limit:)``.
    package static func isCursor(_ cursor: ListCursor) -> Bool { RequestMark(cursor) != nil }

    /// Requests, the latest first.
    /// - Parameters:
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    /// - Throws: `PostgresError`.
    package func list(
        _ filter: ConsumptionFilter, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<ListedConsumptionRequest> {
        let mark = cursor.flatMap { RequestMark($0) }
        let (state, apps) = (filter.state?.rawValue, filter.apps.map { $0.sorted() })
        // An account has few purchases: by these its requests are found, and not among all of a year.
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
        let rows = try await pool.query(
            PostgresQuery(
                "consumption.list",
                """
                \(embedding: own)
                select r.*, r.answer::text as answer_text
                  from storehook.consumption_requests r
                 where r.signed_at > now() - make_interval(days => \(Int32(clamping: filter.days)))
                   and r.signed_at <= coalesce(\(mark?.signedAt)::timestamptz, 'infinity')
                   and (\(mark == nil) or (r.signed_at, r.notification_uuid)
                       < (\(mark?.signedAt)::timestamptz, \(mark?.notificationUUID)::uuid))
                   and (\(state)::text is null or r.state = \(state))
                   and (\(apps)::text[] is null or r.bundle_id = any (\(apps)))
                   and (\(filter.account.map { UUID($0) })::uuid is null
                        or r.app_account_token = \(filter.account.map { UUID($0) }))
                   and (\(filter.environment)::text is null or r.environment = \(filter.environment))
                   and \(unescaped: isOwn)
                 order by r.signed_at desc, r.notification_uuid desc
                 limit \(Int64(limit + 1))
                """))
        let found = try rows.prefix(limit).map { try ListedConsumptionRequest($0) }
        return ListPage(found, next: rows.count > limit ? found.last.map { RequestMark($0).cursor } : nil)
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
        state = try row.decode("state", among: State.self)
        why = try row.decode("why")
        consent = try row.decode("consent")
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
