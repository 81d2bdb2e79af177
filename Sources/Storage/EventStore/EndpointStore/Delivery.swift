import AppStorePayloads
import Base
import Events
import Foundation
package import Postgres
import PurchaseStore

/// An event on its way to an endpoint.
package struct Delivery: Sendable, Hashable {
    /// Its own number.
    package var id: Int64
    /// The event's number, equal for every endpoint and every attempt.
    package var eventID: Int64
    /// When the transaction began that caused the event.
    package var toldAt: PostgresTimestamp
    /// Whether it is a resend that an operator asked for.
    package var isResent: Bool
    /// The body to post; nil where the event is no longer kept.
    package var body: String?
    /// The schedule's time, where it is tried before that because the endpoint is back, or may be.
    package var scheduledAt: PostgresTimestamp?

    /// The event's id for receivers: `webhook-id`.
    package var webhookID: String { Self.webhookID(eventID) }

    /// The event's id for receivers.
    package static func webhookID(_ eventID: Int64) -> String { "evt_\(eventID)" }

    /// The number of an event, from its id for receivers or from the number itself.
    package static func eventID(_ text: some StringProtocol) -> Int64? {
        Int64(text.hasPrefix("evt_") ? text.dropFirst(4) : text[...])
    }
}

extension Delivery {
    /// Reads the columns of the pending delivery as `p`, its lane's row as `q`, the event as `e` and the account's
    /// row as `a`, beside ``PlacedEvent/accountColumn``.
    static let columns: StaticString = """
        p.id, p.position, p.event_id, p.told_at, p.sequence, p.previous_sequence, e.kind, e.environment, e.bundle_id, e.token,
        e.version, e.at, e.content, q.resumes_at
        """

    /// Reads ``columns``.
    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        eventID = try row.decode("event_id")
        toldAt = try row.decode("told_at")
        scheduledAt = try row.decode("resumes_at")
        isResent = try row.decode("position", as: Int64?.self) == nil
        guard let kind = try row.decode("kind", as: String?.self) else { return }
        let token = try row.decode("token", as: UUID?.self).map { UniqueIdentifier($0) }
        body = Event.json(
            kind: kind, instant: Timestamp(try row.decode("at", as: PostgresTimestamp.self)),
            bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"),
            account: try row.decode("account"), token: token, version: try row.decode("version"),
            sequence: try row.decode("sequence"),
            previousSequence: try row.decode("previous_sequence"), content: try row.decode("content"))
    }
}
