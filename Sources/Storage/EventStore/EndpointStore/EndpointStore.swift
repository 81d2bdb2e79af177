package import Events
package import EvidenceStore
import Foundation
package import Postgres

/// Endpoints, and the events delivered to them: their filters, their pending deliveries, and the outcomes.
///
/// Events are fanned out to endpoints by their position, once, however many workers do it: the fan-out locks the
/// endpoint's cursor. An endpoint's pending deliveries are in lanes, one for each account; a lane is a row of a
/// ``/Queue/Queue``. So an account's events arrive one after the other, accounts are independent, and each endpoint's
/// lanes are claimed separately.
///
/// A worker may settle a lane, which deletes its row, while another event is fanned out to it. Neither waits for the
/// other: lanes are queued in a transaction that begins after the fan-out's commit, and the settling worker looks for
/// pending deliveries after it has deleted the row. So either the fan-out finds the row gone and inserts it, or the
/// settling worker finds the pending delivery.
package struct EndpointStore: Sendable {
    let pool: PostgresPool
    /// The queue of lanes with pending deliveries.
    package let queue: Queue

    /// The store behind a pool of connections.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        queue = Queue(Self.table, pool)
    }

    /// The lanes' queue.
    package static let table = QueueTable(
        name: "storehook.delivery_queue", statements: "delivery", channel: "storehook_delivery")

    /// After how many failed calls in a row an endpoint is paused; failures because of the event do not count.
    package static let failuresUntilPause = 10
    /// After how long a failing endpoint is disabled: five days, as in an example of Standard Webhooks 1.0.
    package static let disabledAfter = Duration.seconds(5 * 86_400)

    /// An endpoint that is called, with its secrets.
    package struct Callable: Sendable {
        /// The endpoint.
        package var endpoint: Endpoint
        /// The present secret, and the former ones that still sign, the latest first; none where any of them cannot be read.
        package var secrets: [WebhookSecret]
    }

    private static let callables = """
        select \(Endpoint.columns),
               array_remove(array_prepend(e.secret, array(select f.secret from \(Endpoint.formerSecrets) order by f.place desc)), null)
                   as secrets
          from storehook.endpoints e
          join storehook.endpoint_health h on h.endpoint_id = e.id
        """

    /// The endpoints that are called, paused ones included; the deliveries of others stay pending.
    package func callable(_ key: SecretKey) async throws -> [Callable] {
        try await pool.query(
            PostgresQuery(
                "endpoint.callable",
                """
                \(unescaped: Self.callables)
                 where e.state = 'enabled'
                 order by e.id
                """)
        ).map { row in
            Callable(endpoint: try Endpoint(row), secrets: try Self.secrets(row, key))
        }
    }

    /// An endpoint with its secrets, whatever its state; nil where no endpoint has this number.
    /// - Throws: ``UnreadableSecret``, `PostgresError`.
    package func callable(_ id: Int64, _ key: SecretKey) async throws -> Callable? {
        let row = try await pool.query(
            PostgresQuery(
                "endpoint.callable_one",
                """
                \(unescaped: Self.callables)
                 where e.id = \(id) and e.state <> 'removed'
                """)
        ).first
        guard let row else { return nil }
        let callable = Callable(endpoint: try Endpoint(row), secrets: try Self.secrets(row, key))
        guard !callable.secrets.isEmpty else { throw UnreadableSecret(endpointID: id) }
        return callable
    }

    /// A number for a test event, which is not stored; and the database's clock.
    package func nextTest() async throws -> (number: Int64, now: PostgresTimestamp) {
        let row = try await pool.query(
            PostgresQuery(
                "endpoint.next_test", "select nextval('storehook.event_id') as number, clock_timestamp() as now")
        ).one()
        return (try row.decode("number"), try row.decode("now"))
    }

    /// None where any was encrypted with another key: a receiver with only that secret would verify half of the posts.
    private static func secrets(_ row: PostgresRow, _ key: SecretKey) throws -> [WebhookSecret] {
        let id: Int64 = try row.decode("id")
        let sealed = try row.decode("secrets", as: [[UInt8]].self)
        do throws(UnreadableSecret) {
            return try sealed.map { sealed throws(UnreadableSecret) in try key.open(sealed, of: id) }
        } catch {
            return []
        }
    }
}
