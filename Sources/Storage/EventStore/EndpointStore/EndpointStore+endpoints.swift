package import Base
package import Events
import Foundation
import Postgres

extension EndpointStore {
    /// Adds an endpoint. It gets the events of transactions that commit from now on, however long ago they began. Its
    /// URL must have been checked.
    /// - Parameters:
    ///   - rate: the most deliveries a second.
    ///   - inFlight: the most deliveries at once, by each worker; 1 to 256.
    ///   - secret: signs its deliveries; kept encrypted.
    ///   - person: who adds it.
    ///   - show: called before the commit; where it throws, nothing is added.
    /// - Returns: the endpoint.
    @discardableResult
    package func add(
        _ url: StrictURL, _ filter: EndpointFilter = EndpointFilter(), rate: RateLimit = .none, inFlight: Int = 32,
        secret: WebhookSecret, _ key: SecretKey, by person: String,
        showing show: @Sendable (Endpoint) throws -> Void = { _ in }
    ) async throws -> Endpoint {
        let person = String(person.prefix(200))
        try await placeAll()
        return try await pool.withTransaction(.showing("endpoint.add")) { session in
            let id: Int64 = try session.query(
                PostgresQuery("endpoint.number", "select nextval('storehook.endpoint_id')")
            ).one().decode(0)
            let sealed = try key.seal(secret, of: id)
            try session.query(
                PostgresQuery(
                    "endpoint.add",
                    """
                    insert into storehook.endpoints (
                        id, url, bundle_id, environment, kinds, rate, in_flight, created_by, changed_by, secret)
                    values (\(id), \(url.description), \(filter.bundleID), \(filter.environment), \(filter.kinds),
                            \(rate.perSecond), \(Int16(clamping: inFlight)), \(person), \(person), \(sealed))
                    """))
            try session.query(
                PostgresQuery(
                    "endpoint.begin",
                    """
                    with cursor as (
                        insert into storehook.endpoint_cursors (endpoint_id, position, queued_position)
                        select \(id), last, last
                          from (select coalesce(max(position), 0) as last from storehook.event_places) p
                    )
                    insert into storehook.endpoint_health (endpoint_id) values (\(id))
                    """))
            let endpoint = try Endpoint(try session.query(.endpoint(id)).one())
            try show(endpoint)
            return endpoint
        }
    }

    /// All endpoints that are not removed, by their numbers.
    package func list() async throws -> [Endpoint] {
        try await pool.query(.endpoint(nil)).map { try Endpoint($0) }
    }

    /// An endpoint by its number; nil where there is none.
    package func find(_ id: Int64) async throws -> Endpoint? {
        try await pool.query(.endpoint(id)).first.map { try Endpoint($0) }
    }

    /// The most former secrets of an endpoint: each delivery carries a signature by each.
    package static let mostFormerSecrets = 5

    /// Gives an endpoint a new secret. The former one signs as well for a while, so that the receiver can be given the new one in between.
    /// Every earlier one signs until the end that it was given. It takes no right to read a secret.
    /// - Parameters:
    ///   - overlap: for how long the former one signs. Zero: it ends at once, and so does every earlier one.
    ///   - why: for the audit.
    ///   - show: called before the commit; where it throws, the secret stays as it was.
    /// - Returns: the endpoint; nil where there is none.
    /// - Throws: ``TooManyFormerSecrets`` where ``mostFormerSecrets`` sign already, and then nothing is changed; `PostgresError`.
    package func rotate(
        _ id: Int64, to secret: WebhookSecret, overlap: Duration, _ key: SecretKey, by person: String,
        why: String? = nil, showing show: @Sendable (Endpoint) throws -> Void = { _ in }
    ) async throws -> Endpoint? {
        let sealed = try key.seal(secret, of: id)
        let rotation = PostgresQuery(
            "endpoint.rotate",
            """
            select storehook.rotate_endpoint(\(id), \(sealed), \(overlap / .seconds(1)), \(String(person.prefix(200))))
            """)
        return try await pool.withTransaction(.showing("endpoint.rotate")) { session in
            try Self.note(why, session)
            let isRotated = try session.query(rotation).one().decode(0, as: Bool.self)
            guard let endpoint = try session.query(.endpoint(id)).first.map({ try Endpoint($0) }) else { return nil }
            guard isRotated else {
                throw TooManyFormerSecrets(endpointID: id, firstEndsAt: endpoint.formerSecretEnds.min())
            }
            try show(endpoint)
            return endpoint
        }
    }

    /// Why what this transaction does is done: the database takes it into the audit.
    static func note(_ why: String?, _ session: borrowing PostgresSession) throws {
        guard let why else { return }
        try session.query(PostgresQuery("endpoint.why", "select set_config('storehook.why', \(why), true)"))
    }

    /// Stops calling an endpoint. Its pending deliveries stay, and events meanwhile are fanned out when it is
    /// enabled again.
    /// - Returns: the endpoint; nil where there is none.
    package func disable(_ id: Int64, why: String, by person: String) async throws -> Endpoint? {
        try await change(
            id,
            PostgresQuery(
                "endpoint.disable",
                """
                update storehook.endpoints
                   set state = 'disabled', reason = \(String(why.prefix(200))), changed_at = now(),
                       changed_by = \(String(person.prefix(200)))
                 where id = \(id) and state <> 'removed'
                returning id
                """))
    }

    /// The most deliveries a second.
    package enum RateLimit: Sendable, Hashable {
        /// No limit.
        case none
        /// So many deliveries a second.
        case most(Int)

        /// The stored value.
        fileprivate var perSecond: Int32? {
            switch self {
            case .none: nil
            case .most(let count): Int32(clamping: count)
            }
        }
    }

    /// Calls an endpoint again, also a paused one, as if it had never failed.
    /// - Parameters:
    ///   - skipsMissed: it gets no event written before now; otherwise it catches up.
    ///   - rate: the most deliveries a second from now on; by default unchanged.
    /// - Returns: the endpoint; nil where there is none.
    package func enable(
        _ id: Int64, skipsMissed: Bool, rate: RateLimit? = nil, by person: String
    ) async throws -> Endpoint? {
        if skipsMissed { try await placeAll() }
        return try await pool.withTransaction(TransactionOptions(name: "endpoint.enable")) { session in
            // The cursor first, as in the fan-out: so nothing that is skipped here is fanned out.
            try session.query(
                PostgresQuery(
                    "endpoint.hold",
                    "select from storehook.endpoint_cursors where endpoint_id = \(id) for update"))
            if skipsMissed { try Self.skipMissed(id, session) }
            let found = try session.query(
                PostgresQuery(
                    "endpoint.enable",
                    """
                    with enabled as (
                        update storehook.endpoints
                           set state = 'enabled', reason = null,
                               rate = case when \(rate != nil) then \(rate?.perSecond) else rate end, changed_at = now(), changed_by = \(String(person.prefix(200)))
                         where id = \(id) and state <> 'removed'
                        returning id
                    ), healthy as (
                        update storehook.endpoint_health h
                           set failures = 0, faults = 0, failing_since = null, paused_at = null, probe_at = null, probes = 0,
                               rest_until = null
                          from enabled where h.endpoint_id = enabled.id
                    ), due as (
                        update storehook.delivery_queue q
                           set due_at = now(), attempts = least(q.attempts, 2::smallint), resumes_at = null
                          from enabled
                         where q.endpoint_id = enabled.id and q.lease_token is null and q.due_at > now()
                    )
                    select id from enabled
                    """)
            ).first
            return found == nil ? nil : try session.query(.endpoint(id)).first.map { try Endpoint($0) }
        }
    }

    /// Deliveries that a worker has begun may still arrive. The next one follows upon the last one sent, not upon a
    /// skipped one.
    private static func skipMissed(_ id: Int64, _ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "endpoint.skip",
                """
                with moved as (
                    update storehook.endpoint_cursors
                       set position = last.position, queued_position = last.position, has_resends = false
                      from (select coalesce(max(position), 0) as position from storehook.event_places) last
                     where endpoint_id = \(id)
                ), taken as (
                    delete from storehook.delivery_queue where endpoint_id = \(id) and lease_token is null
                ), skipped as (
                    delete from storehook.deliveries_pending where endpoint_id = \(id)
                    returning lane_id, position, previous_sequence
                )
                update storehook.delivery_lanes l set last_sequence = coalesce(first.previous_sequence, 0)
                  from (select distinct on (lane_id) lane_id, previous_sequence from skipped
                         where position is not null order by lane_id, position) first
                 where l.id = first.lane_id
                """))
    }

    /// Gives every event committed by now its place, so that later places belong to later commits. A portion that is
    /// not full was the last: under a steady flow of events it would otherwise never end.
    private func placeAll() async throws {
        let portion: Int32 = 10_000
        var placed = portion
        while placed >= portion {
            placed = try await pool.query(
                PostgresQuery("endpoint.place", "select storehook.place_events(\(portion))")
            ).one().decode(0)
        }
    }

    /// Removes an endpoint with its secrets; its pending deliveries go with the next maintenance.
    /// - Returns: whether there was one.
    package func remove(_ id: Int64, by person: String) async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "endpoint.remove",
                """
                update storehook.endpoints
                   set state = 'removed', reason = 'removed', url = 'removed', secret = null, former_secret = null,
                       former_ends_at = null, earlier_secrets = null, earlier_ends_at = null,
                       changed_at = now(), changed_by = \(String(person.prefix(200)))
                 where id = \(id) and state <> 'removed'
                """)
        ).affectedRows > 0
    }

    private func change(_ id: Int64, _ query: PostgresQuery) async throws -> Endpoint? {
        guard try await pool.query(query).first != nil else { return nil }
        return try await find(id)
    }
}

extension PostgresQuery {
    fileprivate static func endpoint(_ id: Int64?) -> PostgresQuery {
        PostgresQuery(
            "endpoint.list",
            """
            select \(unescaped: Endpoint.columns)
              from storehook.endpoints e
              join storehook.endpoint_health h on h.endpoint_id = e.id
             where e.state <> 'removed' and (\(id)::bigint is null or e.id = \(id))
             order by e.id
            """)
    }
}
