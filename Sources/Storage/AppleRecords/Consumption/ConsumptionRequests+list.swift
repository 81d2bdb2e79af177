package import Base
package import Foundation
package import Postgres

/// A request of Apple's for consumption data, as it stands.
package struct ListedConsumptionRequest: Sendable, Hashable {
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
    /// Twelve hours after Apple signed the request.
    package var deadline: PostgresTimestamp
    /// `open`, `sending`, or what it came to: ``ConsumptionOutcome``.
    package var state: String
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

extension ConsumptionRequests {
    /// The requests that Apple signed within so many days, the earliest deadline first.
    /// - Parameter state: only those in it.
    package func list(days: Int, state: String?, limit: Int = 1000) async throws -> [ListedConsumptionRequest] {
        try await pool.query(
            PostgresQuery(
                "consumption.list",
                """
                select * from (
                       select r.*, r.answer::text as answer_text
                         from storehook.consumption_requests r
                        where r.signed_at > now() - make_interval(days => \(Int32(clamping: days)))
                          and (\(state)::text is null or r.state = \(state))
                        order by r.deadline desc
                        limit \(limit)) latest
                 order by deadline, notification_uuid
                """)
        ).map { row in
            ListedConsumptionRequest(
                notificationUUID: try row.decode("notification_uuid"),
                scope: try AppEnvironment(row),
                transactionID: try row.decode("transaction_id"), productID: try row.decode("product_id"),
                accountToken: try row.decode("app_account_token"), reason: try row.decode("reason"),
                deadline: try row.decode("deadline"), state: try row.decode("state"), why: try row.decode("why"),
                consent: try row.decode("consent"), answer: try row.decode("answer_text"),
                rule: try row.decode("rule"), sentAt: try row.decode("sent_at"), sentBy: try row.decode("sent_by"))
        }
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
