package import Events
package import EvidenceStore
import Foundation
package import Postgres

/// Endpoints, and the events that are delivered to them: who wants which, what waits, and what became of each.
///
/// Events are dealt out to endpoints by their position, once, whatever number of workers does it: who deals holds the endpoint's
/// cursor. What waits for an endpoint waits in lanes, one for each account; a lane is a row of a ``/Queue/Queue``. So an account's
/// events arrive one after the other, accounts go side by side, and each endpoint's are claimed by themselves.
///
/// A lane's row may be taken off by who settles it while another event is dealt out to it. Neither waits for the other: lanes
/// are put into the queue in a transaction that begins after what was dealt out is committed, and who takes a lane off looks
/// afterwards whether anything waits in it. So either the one finds the lane gone and puts it in, or the other finds what waits.
package struct EndpointStore: Sendable {
    let pool: PostgresPool
    /// The lanes in which something waits.
    package let queue: Queue

    /// The store behind a pool of connections.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        queue = Queue(Self.table, pool)
    }

    /// The lanes' queue.
    package static let table = QueueTable(
        name: "storehook.delivery_queue", statements: "delivery", channel: "storehook_delivery")

    /// Calls in a row that fail until an endpoint is paused, those not counted that failed because of what they were about.
    package static let failuresUntilPause = 10
    /// How long an endpoint fails until it is disabled: five days, as Standard Webhooks 1.0 has it for an example.
    package static let disabledAfter = Duration.seconds(5 * 86_400)

    /// An endpoint that is called, with what its deliveries are signed with.
    package struct Callable: Sendable {
        /// The endpoint.
        package var endpoint: Endpoint
        /// The present secret, and the one before it while that still signs; none where they cannot be read.
        package var secrets: [WebhookSecret]
    }

    /// The endpoints that are called, paused ones too; what waits for the others stays where it is.
    package func callable(_ key: SecretKey) async throws -> [Callable] {
        try await pool.query(
            PostgresQuery(
                "endpoint.callable",
                """
                select \(unescaped: "\(Endpoint.columns)"), e.secret,
                       case when e.former_ends_at > now() then e.former_secret end as former_secret
                  from storehook.endpoints e
                  join storehook.endpoint_health h on h.endpoint_id = e.id
                 where e.state = 'enabled'
                 order by e.id
                """)
        ).map { row in
            Callable(endpoint: try Endpoint(row), secrets: try Self.secrets(row, key))
        }
    }

    /// An endpoint with what its deliveries are signed with, whatever its state; nil where there is none of this number.
    /// - Throws: ``UnreadableSecret``, `PostgresError`.
    package func callable(_ id: Int64, _ key: SecretKey) async throws -> Callable? {
        let row = try await pool.query(
            PostgresQuery(
                "endpoint.callable_one",
                """
                select \(unescaped: "\(Endpoint.columns)"), e.secret,
                       case when e.former_ends_at > now() then e.former_secret end as former_secret
                  from storehook.endpoints e
                  join storehook.endpoint_health h on h.endpoint_id = e.id
                 where e.id = \(id) and e.state <> 'removed'
                """)
        ).first
        guard let row else { return nil }
        let callable = Callable(endpoint: try Endpoint(row), secrets: try Self.secrets(row, key))
        guard !callable.secrets.isEmpty else { throw UnreadableSecret(endpointID: id) }
        return callable
    }

    /// A number for an event that is posted to see whether events arrive, and kept nowhere; and what time it is.
    package func nextTest() async throws -> (number: Int64, now: PostgresTimestamp) {
        let row = try await pool.query(
            PostgresQuery(
                "endpoint.next_test", "select nextval('storehook.event_id') as number, clock_timestamp() as now")
        ).one()
        return (try row.decode("number"), try row.decode("now"))
    }

    /// None of one that was encrypted with another key: whoever has only the former one would verify half of what is sent.
    private static func secrets(_ row: PostgresRow, _ key: SecretKey) throws -> [WebhookSecret] {
        let id: Int64 = try row.decode("id")
        let sealed = try [row.decode("secret", as: [UInt8]?.self), row.decode("former_secret", as: [UInt8]?.self)]
        do throws(UnreadableSecret) {
            return try sealed.compactMap(\.self).map { sealed throws(UnreadableSecret) in try key.open(sealed, of: id) }
        } catch {
            return []
        }
    }
}
