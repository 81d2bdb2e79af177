import AppStorePayloads
import Base
package import EventStore
import Postgres
import PurchaseStore

/// A delivery, as people and scripts see it.
package struct DeliveryAnswer: Encodable, Sendable {
    private let id: Int64
    private let event: String
    private let endpoint: Int64
    private let type: String?
    private let account: String?
    private let originalTransactionId: String?
    private let sequence: Int64
    private let toldAt: String
    private let outcome: String
    private let attempts: Int
    private let status: Int?
    private let reason: String?
    private let endedAt: String?
    private let nextAttemptAt: String?
    private let resentAt: String?

    /// An answer.
    package init(_ record: DeliveryRecord) {
        func instant(_ instant: PostgresTimestamp?) -> String? { instant.map { "\(Timestamp($0))" } }
        id = record.id
        event = Delivery.webhookID(record.eventID)
        endpoint = record.endpointID
        type = record.kind
        account = record.account
        originalTransactionId = record.originalTransactionID
        sequence = record.sequence
        toldAt = "\(Timestamp(record.toldAt))"
        outcome = record.outcome.rawValue
        attempts = record.attempts
        status = record.status
        reason = record.reason
        endedAt = instant(record.endedAt)
        nextAttemptAt = instant(record.dueAt)
        resentAt = instant(record.resentAt)
    }

    /// A line each.
    package static func table(_ answers: [DeliveryAnswer]) -> String {
        guard !answers.isEmpty else { return "no deliveries" }
        var table = Table(
            ["EVENT", "TYPE", "WHOSE", "SEQUENCE", "ENDPOINT", "TOLD", "OUTCOME", "CALLS", "ANSWER", "ENDED"],
            numeric: [3, 4, 7])
        for answer in answers {
            table.add([
                answer.event, answer.type ?? "-", answer.account ?? answer.originalTransactionId ?? "-",
                "\(answer.sequence)", "\(answer.endpoint)", answer.toldAt,
                answer.resentAt == nil ? answer.outcome : "\(answer.outcome), sent again", "\(answer.attempts)",
                answer.reason ?? answer.status.map { "http_\($0)" } ?? "-",
                answer.endedAt ?? answer.nextAttemptAt.map { "next \($0)" } ?? "-",
            ])
        }
        return table.text
    }
}
