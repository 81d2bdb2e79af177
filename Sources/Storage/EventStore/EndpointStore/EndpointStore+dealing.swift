package import Postgres

extension EndpointStore {
    /// The work for an enabled or paused endpoint.
    package struct Need: Sendable, Hashable {
        /// The endpoint.
        package var endpointID: Int64
        /// Whether events are to be fanned out to it.
        package var isBehind: Bool
        /// Whether a delivery to it is due.
        package var isDue: Bool
        /// Where the next look at its lanes may begin: see ``/Queue/ClaimFloor``.
        package var floor: PostgresTimestamp
    }

    /// The work for each endpoint that is called, perhaps none. Those that are furthest behind come last.
    ///
    /// A paused endpoint gets no fan-out beyond what probes need: what it misses is a position, not rows.
    /// - Parameter floors: where the look at lanes begins, by endpoint; by default at all of them.
    package func needs(from floors: [Int64: PostgresTimestamp] = [:]) async throws -> [Need] {
        let floors = floors.map { $0 }
        return try await pool.query(
            PostgresQuery(
                "delivery.needs",
                """
                select id, is_behind, is_due, floor from (
                    select e.id, last.position - c.position as missed,
                           (c.position < last.position or c.queued_position < c.position or c.has_resends)
                               and (h.paused_at is null or lane.is_due is null) as is_behind,
                           coalesce(h.rest_until <= now(), true) and (h.paused_at is null or h.probe_at <= now())
                               and coalesce(lane.is_due, false) as is_due,
                           least(lane.due_at, now()) as floor
                      from storehook.endpoints e
                      join storehook.endpoint_cursors c on c.endpoint_id = e.id
                      join storehook.endpoint_health h on h.endpoint_id = e.id
                     cross join (select coalesce(max(position), 0) as position from storehook.event_places) last
                      left join unnest(\(floors.map(\.key)), \(floors.map(\.value))) floor (endpoint_id, due_at)
                        on floor.endpoint_id = e.id
                      -- With an order and a limit, or it might read all lanes of all endpoints to find none of this one.
                      left join lateral (
                          select h.paused_at is not null or q.due_at <= now() as is_due, q.due_at
                            from storehook.delivery_queue q
                           where q.endpoint_id = e.id and q.due_at >= coalesce(floor.due_at, '-infinity')
                             and (h.paused_at is null or q.lease_token is null or q.due_at <= now())
                           order by q.due_at limit 1) lane on true
                     where e.state = 'enabled') needs
                 order by missed, id
                """)
        ).map { row in
            Need(
                endpointID: try row.decode("id"), isBehind: try row.decode("is_behind"),
                isDue: try row.decode("is_due"), floor: try row.decode("floor"))
        }
    }

    /// The result of one step of the fan-out.
    package struct Dealt: Sendable, Hashable {
        /// Events processed.
        package var events = 0
        /// Lanes put into the queue.
        package var lanes = 0
        /// Whether so many deliveries are due already that no more were fanned out.
        package var isFull = false
    }

    /// How many events may be due for an endpoint before its fan-out stops: what an unreachable or slow endpoint has
    /// missed is a position, not rows, and when it is back it gets the oldest events.
    package static let room = 5_000
    /// How many of them count in one lane: one account with very many does not delay all others.
    private static let roomOfLane: Int64 = 50

    /// Fans out the next events to an endpoint, and puts the lanes of the previous fan-out into the queue; see
    /// ``EndpointStore``. Events that the endpoint's filter excludes are passed over.
    ///
    /// Does nothing where another worker holds the endpoint's cursor.
    /// - Parameter limit: how many events to process.
    package func deal(_ endpointID: Int64, atMost limit: Int = 500, room: Int = Self.room) async throws -> Dealt {
        try await pool.withTransaction(
            TransactionOptions(
                idleTimeout: .seconds(30), keepsPlans: true, goesByIndexes: true, name: "delivery.deal")
        ) { session in
            guard
                let cursor = try session.query(.cursor(endpointID, room, Self.roomOfLane)).first.map({ try Cursor($0) })
            else {
                return Dealt()
            }
            var dealt = Dealt(isFull: cursor.isFull)
            if cursor.queued < cursor.position {
                dealt.lanes += Int(try session.query(.queue(endpointID, cursor)).one().decode(0, as: Int64.self))
            }
            if let queuedResend = cursor.queuedResend {
                dealt.lanes += Int(
                    try session.query(.queueResent(endpointID, after: queuedResend)).one().decode(0, as: Int64.self))
            }
            if !cursor.isFull {
                dealt.events = Int(
                    try session.query(.deal(endpointID, cursor, limit)).one().decode(0, as: Int64.self))
            }
            return dealt
        }
    }
}

/// How far an endpoint's fan-out has come, and its filter.
private struct Cursor: Sendable {
    let position: Int64
    let queued: Int64
    /// Up to which resent delivery the lanes are in the queue; nil where all are.
    let queuedResend: Int64?
    let isFull: Bool
    let filter: EndpointFilter

    init(_ row: PostgresRow) throws {
        position = try row.decode("position")
        queued = try row.decode("queued_position")
        queuedResend = try row.decode("queued_resend")
        isFull = try row.decode("is_full")
        filter = EndpointFilter(
            bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"),
            kinds: try row.decode("kinds", as: [String]?.self))
    }
}

extension PostgresQuery {
    /// Limits are literals in these statements: a kept plan is made for all values, and assumes an unknown
    /// limit to be large.
    fileprivate static func cursor(_ id: Int64, _ room: Int, _ ofLane: Int64) -> PostgresQuery {
        PostgresQuery(
            "delivery.cursor",
            """
            select c.position, c.queued_position, case when c.has_resends then c.queued_resend end as queued_resend,
                   e.bundle_id, e.environment, e.kinds,
                   (select count(*)
                      from (select from storehook.delivery_queue q
                             cross join lateral (select from storehook.deliveries_pending p
                                                  where p.lane_id = q.id limit \(unescaped: "\(ofLane)")) waiting
                             where q.endpoint_id = e.id and q.due_at <= now()
                             limit \(unescaped: "\(room)")) due) >= \(unescaped: "\(room)") as is_full
              from storehook.endpoint_cursors c
              join storehook.endpoints e on e.id = c.endpoint_id
             where c.endpoint_id = \(id) and e.state = 'enabled'
               for update of c skip locked
            """)
    }

    /// The lanes become due one after the other, in the order of their first pending events.
    fileprivate static func queue(_ id: Int64, _ cursor: Cursor) -> PostgresQuery {
        PostgresQuery(
            "delivery.queue",
            """
            with waiting as (
                select distinct on (lane_id) lane_id, id, told_at
                  from storehook.deliveries_pending
                 where endpoint_id = \(id) and position > \(cursor.queued) and position <= \(cursor.position)
                 order by lane_id, id
            ), queued as (
                insert into storehook.delivery_queue (id, endpoint_id, received_at, due_at)
                select lane_id, \(id), told_at, clock_timestamp() from (select * from waiting order by id) w
                    on conflict (id) do nothing
                returning id
            ), moved as (
                update storehook.endpoint_cursors set queued_position = position where endpoint_id = \(id)
            )
            select count(*) from queued
            """)
    }

    /// Likewise for resent deliveries. They were inserted under the cursor's lock, so their numbers grow in
    /// commit order.
    fileprivate static func queueResent(_ id: Int64, after number: Int64) -> PostgresQuery {
        PostgresQuery(
            "delivery.queue_resent",
            """
            with resent as materialized (
                select lane_id, id, told_at from storehook.deliveries_pending
                 where endpoint_id = \(id) and position is null and id > \(number)
            ), waiting as (
                select distinct on (lane_id) lane_id, id, told_at from resent order by lane_id, id
            ), queued as (
                insert into storehook.delivery_queue (id, endpoint_id, received_at, due_at)
                select lane_id, \(id), told_at, clock_timestamp() from (select * from waiting order by id) w
                    on conflict (id) do nothing
                returning id
            ), moved as (
                update storehook.endpoint_cursors
                   set has_resends = false, queued_resend = greatest(queued_resend, (select max(id) from resent))
                 where endpoint_id = \(id)
            )
            select count(*) from queued
            """)
    }

    /// The cursor is locked, so that no other worker changes the endpoint's lanes, and each lane's last sequence can
    /// be read in the same statement. Three parts of it guide the planner:
    /// - Each event is looked up by itself, and `offset 0` forbids a join, which would read whole tables for a
    ///   single event.
    /// - `is_wanted` is a column: the planner estimates a column at half of the rows, but a filter of several
    ///   conditions at none, and would then compare each row with each.
    /// - No more transactions' places are read than hold so many events, whichever way it sorts them.
    fileprivate static func deal(_ id: Int64, _ cursor: Cursor, _ limit: Int) -> PostgresQuery {
        let filter = cursor.filter
        return PostgresQuery(
            "delivery.deal",
            """
            with places as materialized (
                select position, told_at, id from storehook.event_positions
                 where last > \(cursor.position) and position > \(cursor.position)
                   and last <= coalesce((select o.position from storehook.event_places o
                                          where o.position >= \(cursor.position + Int64(limit))
                                          order by o.position limit 1), 9223372036854775807)
                 order by position limit \(unescaped: "\(limit)")
            ), next as materialized (
                select p.position, p.told_at, p.id, e.sequence, e.subject,
                       coalesce((\(filter.bundleID)::text is null or e.bundle_id is null or e.bundle_id = \(filter.bundleID)
                                 or e.kind like 'account.%')
                                and (\(filter.environment)::text is null or e.environment = \(filter.environment))
                                and (\(filter.likePatterns)::text[] is null or e.kind like any (\(filter.likePatterns)::text[])),
                                false) as is_wanted
                  from places p
                 cross join lateral (
                     select e.kind, e.environment, e.bundle_id, e.sequence,
                            e.environment || '/' || coalesce(
                                e.token::text,
                                coalesce(e.bundle_id, '') || '/' || coalesce(e.original_transaction_id, '')) as subject
                       from storehook.events e where e.told_at = p.told_at and e.id = p.id offset 0) e
            ), wanted as materialized (
                select n.position, n.told_at, n.id, n.sequence, n.subject, nullif(l.last_sequence, 0) as before
                  from next n
                  left join lateral (select l.last_sequence from storehook.delivery_lanes l
                                      where l.endpoint_id = \(id) and l.subject = n.subject offset 0) l on true
                 where n.is_wanted
            ), lane as (
                insert into storehook.delivery_lanes as l (endpoint_id, subject, last_sequence)
                select \(id), subject, max(sequence) from wanted group by subject
                    on conflict (endpoint_id, subject) do update
                   set last_sequence = greatest(l.last_sequence, excluded.last_sequence)
                returning id, subject
            ), pending as (
                insert into storehook.deliveries_pending (
                    endpoint_id, lane_id, position, event_id, told_at, sequence, previous_sequence)
                select \(id), lane.id, w.position, w.id, w.told_at, w.sequence,
                       coalesce(lag(w.sequence) over (partition by w.subject order by w.position), w.before)
                  from wanted w
                  join lane using (subject)
                 order by w.position
            ), moved as (
                update storehook.endpoint_cursors c set position = last.position
                  from (select max(position) as position from places) last
                 where c.endpoint_id = \(id) and last.position is not null
            )
            select count(*) from places
            """)
    }
}
