import Base
package import EventStore
import Postgres

extension CommandAnswer {
    /// Deliveries, a line each.
    package init(_ deliveries: [DeliveryRecord]) {
        self.init(deliveries, Self.delivery, ifEmpty: "no deliveries")
    }

    private static let delivery = CommandShape<DeliveryRecord>([
        .init("id", \.id), .init("event", column: "EVENT") { Delivery.webhookID($0.eventID) },
        .init("type", column: "TYPE", \.kind), .column("WHOSE") { $0.account ?? $0.originalTransactionID },
        .init("account", \.account), .init("original_transaction_id", \.originalTransactionID),
        .init("sequence", column: "SEQUENCE", \.sequence), .init("endpoint", column: "ENDPOINT", \.endpointID),
        .init("told_at", column: "TOLD", \.toldAt), .init("outcome", \.outcome.rawValue),
        .column("OUTCOME") { $0.outcome.rawValue + ($0.resentAt == nil ? "" : ", sent again") },
        .init("attempts", column: "CALLS") { $0.isDated ? $0.attempts : nil }, .init("status", \.status),
        .init("reason", \.reason),
        .column("ANSWER") { $0.reason ?? $0.status.map { "http_\($0)" } }, .init("ended_at", \.endedAt),
        .init("next_attempt_at", \.dueAt), .init("resent_at", \.resentAt),
        .column("ENDED") { delivery in
            delivery.endedAt.map { "\(Timestamp($0))" } ?? delivery.dueAt.map { "next \(Timestamp($0))" }
        },
    ])
}
