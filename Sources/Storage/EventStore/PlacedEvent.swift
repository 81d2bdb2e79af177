package import AppStorePayloads
import Events
import Foundation
import Ledger
import Postgres

/// An event in the order that all readers follow.
package struct PlacedEvent: Sendable, Hashable {
    /// Its place: from 1 on, without a gap, in the order of committing.
    package var position: Int64
    /// Its name, the same for whoever gets it.
    package var id: Int64
    /// What it tells; one of ``/Events/EventKind``.
    package var kind: String
    /// Apple's name of the environment.
    package var environment: String
    /// The app, where it is one's.
    package var bundleID: String?
    /// The account in whose order it stands.
    package var token: UniqueIdentifier?
    /// What the app's own tokens call it, where that is known.
    package var account: String?
    /// The purchase that it is about, where it is about one.
    package var originalTransactionID: String?
    /// Its number in its order.
    package var sequence: Int64
    /// The account's version by then.
    package var version: Int64?
    /// When what it tells came to be.
    package var at: Timestamp
    /// What of its body does not depend on who reads it.
    package var content: String

    /// The body that is sent.
    package func json(previousSequence: Int64?) -> String {
        Event.json(
            kind: kind, instant: at, bundleID: bundleID, environment: environment,
            account: account ?? token?.description, version: version, sequence: sequence,
            previousSequence: previousSequence, content: content)
    }
}

extension EventStore {
    /// The events after a position, in order: all that have been placed by then, none of which comes later.
    /// - Throws: `PostgresError`.
    package func events(after position: Int64, limit: Int) async throws -> [PlacedEvent] {
        try await pool.query(
            PostgresQuery(
                "events.after",
                """
                select p.position, e.id, e.kind, e.environment, e.bundle_id, e.token, a.account,
                       e.original_transaction_id, e.sequence, e.version, e.at, e.content
                  from (select * from storehook.event_positions
                         where position > \(position) order by position limit \(Int64(limit))) p
                  join storehook.events e on e.told_at = p.told_at and e.id = p.id
                  left join storehook.accounts a on a.token = e.token
                 order by p.position
                """)
        ).map { row in
            PlacedEvent(
                position: try row.decode("position"), id: try row.decode("id"), kind: try row.decode("kind"),
                environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                token: try row.decode("token", as: UUID?.self).map { UniqueIdentifier($0) },
                account: try row.decode("account"),
                originalTransactionID: try row.decode("original_transaction_id"),
                sequence: try row.decode("sequence"), version: try row.decode("version"),
                at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)), content: try row.decode("content"))
        }
    }
}
