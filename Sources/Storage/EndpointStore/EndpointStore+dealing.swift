import Postgres

extension EndpointStore {
    /// What there is to do for an endpoint that is called.
    package struct Need: Sendable, Hashable {
        /// Which.
        package var endpointID: Int64
        /// Whether events are to be dealt out to it.
        package var isBehind: Bool
        /// Whether something may be sent to it now.
        package var isDue: Bool
    }

    /// What there is to do; endpoints for which there is nothing are left out.
    package func needs() async throws -> [Need] {
        try await pool.query(
            PostgresQuery(
                "delivery.needs",
                """
                select * from (
                    select e.id, c.position < last.position or c.queued_position < c.position or c.has_resends as is_behind,
                           coalesce(h.rest_until <= now(), true)
                               and case when h.paused_at is null
                                        then exists (select from storehook.delivery_queue q
                                                      where q.endpoint_id = e.id and q.due_at <= now())
                                        else h.probe_at <= now()
                                             and exists (select from storehook.delivery_queue q
                                                          where q.endpoint_id = e.id
                                                            and (q.lease_token is null or q.due_at <= now())) end as is_due
                      from storehook.endpoints e
                      join storehook.endpoint_cursors c on c.endpoint_id = e.id
                      join storehook.endpoint_health h on h.endpoint_id = e.id
                     cross join (select coalesce(max(position), 0) as position from storehook.event_positions) last
                     where e.state = 'enabled') needs
                 where is_behind or is_due
                 order by id
                """)
        ).map { row in
            Need(
                endpointID: try row.decode("id"), isBehind: try row.decode("is_behind"),
                isDue: try row.decode("is_due"))
        }
    }

    /// What one step of dealing out came to.
    package struct Dealt: Sendable, Hashable {
        /// Events that it went through.
        package var events = 0
        /// Lanes that it put into the queue.
        package var lanes = 0
    }

    /// So many lanes may be due for an endpoint before nothing more is dealt out to it: what an endpoint that is away has missed is
    /// a position, not rows, and what it gets when it is back is what is oldest.
    package static let room = 5_000

    /// Deals out the next events to an endpoint, and puts the lanes of those that were dealt out before into the queue; see
    /// ``EndpointStore``. Events that are not its are gone through as well.
    ///
    /// Where somebody else is at it, nothing.
    /// - Parameter limit: how many events to go through.
    package func deal(_ endpointID: Int64, atMost limit: Int = 500, room: Int = Self.room) async throws -> Dealt {
        try await pool.withTransaction(
            TransactionOptions(idleTimeout: .seconds(30), keepsPlans: true, name: "delivery.deal")
        ) { session in
            guard let cursor = try session.query(.cursor(endpointID, room)).first.map({ try Cursor($0) }) else {
                return Dealt()
            }
            var dealt = Dealt()
            if cursor.queued < cursor.position || cursor.hasResends {
                dealt.lanes = Int(try session.query(.queue(endpointID, cursor)).one().decode(0, as: Int64.self))
            }
            if !cursor.isFull {
                dealt.events = Int(
                    try session.query(.deal(endpointID, cursor, limit)).one().decode(0, as: Int64.self))
            }
            return dealt
        }
    }
}

/// How far an endpoint's share was dealt out, and what it wants.
private struct Cursor: Sendable {
    let position: Int64
    let queued: Int64
    let hasResends: Bool
    let isFull: Bool
    let createdAt: PostgresTimestamp
    let filter: EndpointFilter

    init(_ row: PostgresRow) throws {
        position = try row.decode("position")
        queued = try row.decode("queued_position")
        hasResends = try row.decode("has_resends")
        isFull = try row.decode("is_full")
        createdAt = try row.decode("created_at")
        filter = EndpointFilter(
            bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"),
            kinds: try row.decode("kinds", as: [String]?.self))
    }
}

extension PostgresQuery {
    fileprivate static func cursor(_ id: Int64, _ room: Int) -> PostgresQuery {
        PostgresQuery(
            "delivery.cursor",
            """
            select c.position, c.queued_position, c.has_resends, e.created_at, e.bundle_id, e.environment, e.kinds,
                   (select count(*) from (select from storehook.delivery_queue q
                                           where q.endpoint_id = e.id and q.due_at <= now()
                                           limit \(Int64(room))) due) >= \(Int64(room)) as is_full
              from storehook.endpoint_cursors c
              join storehook.endpoints e on e.id = c.endpoint_id
             where c.endpoint_id = \(id) and e.state = 'enabled'
               for update of c skip locked
            """)
    }

    /// The lanes are due one after the other, in the order of what waits in them. Of two events in a lane the first says when.
    fileprivate static func queue(_ id: Int64, _ cursor: Cursor) -> PostgresQuery {
        PostgresQuery(
            "delivery.queue",
            """
            with waiting as (
                select distinct on (lane_id) lane_id, id, told_at
                  from storehook.deliveries_pending
                 where endpoint_id = \(id)
                   and (position > \(cursor.queued) and position <= \(cursor.position) or \(cursor.hasResends) and position is null)
                 order by lane_id, id
            ), queued as (
                insert into storehook.delivery_queue (id, endpoint_id, received_at, due_at)
                select lane_id, \(id), told_at, clock_timestamp() from (select * from waiting order by id) w
                    on conflict (id) do nothing
                returning id
            ), moved as (
                update storehook.endpoint_cursors set queued_position = position, has_resends = false
                 where endpoint_id = \(id)
            )
            select count(*) from queued
            """)
    }

    /// The cursor is held, so that nobody else changes the endpoint's lanes, and what was dealt out last in each can be read beside.
    fileprivate static func deal(_ id: Int64, _ cursor: Cursor, _ limit: Int) -> PostgresQuery {
        let filter = cursor.filter
        return PostgresQuery(
            "delivery.deal",
            """
            with next as materialized (
                select p.position, p.told_at, e.id, e.kind, e.environment, e.bundle_id, e.sequence,
                       e.environment || '/' || coalesce(
                           e.token::text, coalesce(e.bundle_id, '') || '/' || coalesce(e.original_transaction_id, '')) as subject
                  from (select * from storehook.event_positions
                         where position > \(cursor.position) order by position limit \(Int64(limit))) p
                  left join storehook.events e on e.told_at = p.told_at and e.id = p.id
            ), wanted as materialized (
                select * from next
                 where id is not null and told_at >= \(cursor.createdAt)
                   and (\(filter.bundleID)::text is null or bundle_id is null or bundle_id = \(filter.bundleID))
                   and (\(filter.environment)::text is null or environment = \(filter.environment))
                   and (\(filter.likePatterns)::text[] is null or kind like any (\(filter.likePatterns)::text[]))
            ), before as (
                select l.subject, l.last_sequence
                  from (select distinct subject from wanted) w
                  join storehook.delivery_lanes l on l.endpoint_id = \(id) and l.subject = w.subject
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
                       coalesce(lag(w.sequence) over (partition by w.subject order by w.position), before.last_sequence)
                  from wanted w
                  join lane using (subject)
                  left join before using (subject)
                 order by w.position
            ), moved as (
                update storehook.endpoint_cursors c set position = last.position
                  from (select max(position) as position from next) last
                 where c.endpoint_id = \(id) and last.position is not null
            )
            select count(*) from next
            """)
    }
}
