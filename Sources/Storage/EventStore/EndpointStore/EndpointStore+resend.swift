import Base
import Foundation
import Postgres
import PurchaseStore

extension EndpointStore {
    /// How many events are put back in one transaction.
    package static let portion: Int64 = 2_000

    /// Sends events again, to every endpoint that wants them or to one, whatever their earlier outcome. Events older
    /// than an endpoint are sent to it as well. Within each account they keep their order, behind the pending
    /// deliveries. Not resent:
    /// - deliveries that are pending;
    /// - events that are not fanned out to an endpoint yet: they come anyway.
    ///
    /// Each transaction puts that on record, an act for each endpoint.
    /// - Parameters:
    ///   - person: who sends them again.
    ///   - why: for the audit.
    ///   - portion: how many positions one transaction processes.
    /// - Returns: how many deliveries that makes.
    package func resend(
        _ selection: EventSelection, by person: String, why: String? = nil, portion: Int64 = Self.portion
    ) async throws -> Int {
        let act = ResendAct(person: person, why: why)
        guard selection.eventIDs == nil, selection.token == nil else {
            return try await putBack(selection.endpointID, picking: .named(selection), act).put
        }
        let bounds = try await pool.query(
            PostgresQuery(
                "delivery.resend_bounds",
                """
                select coalesce(min(position - coalesce(cardinality(more), 0)), 0) as first,
                       coalesce(max(position), -1) as last
                  from storehook.event_places
                 where (\(selection.since)::timestamptz is null or told_at >= \(selection.since))
                   and (\(selection.until)::timestamptz is null or told_at < \(selection.until))
                """)
        ).one()
        var position: Int64 = try bounds.decode("first")
        let last: Int64 = try bounds.decode("last")
        var count = 0
        while position <= last {
            let end = min(position + portion - 1, last)
            count += try await putBack(
                selection.endpointID, picking: .placed(selection, from: position, to: end), act
            ).put
            position = end + 1
        }
        return count
    }

    /// Those of these events that are not kept, or never were.
    package func unknownEvents(_ ids: [Int64]) async throws -> [Int64] {
        try await pool.query(
            PostgresQuery(
                "delivery.unknown_events",
                """
                select id from unnest(\(ids)::bigint[]) id
                 where not exists (select from storehook.events e where e.id = id.id) order by id
                """)
        ).map { try $0.decode("id") }
    }

    /// Sends dead deliveries again. They stay, and that they are sent again goes on record as with ``resend(_:by:why:portion:)``.
    /// - Parameter portion: how many in one transaction.
    /// - Returns: how many.
    package func resendDead(
        _ selection: EventSelection, by person: String, why: String? = nil, portion: Int64 = Self.portion
    ) async throws -> Int {
        let act = ResendAct(person: person, why: why)
        var count = 0
        while true {
            let put = try await putBack(selection.endpointID, picking: .dead(selection, limit: portion), act)
            count += put.put
            if put.picked == 0 { return count }
        }
    }

    /// Sends one delivery again for a member of the staff, on record like ``resend(_:by:why:portion:)``, as an act on the delivery. One that was
    /// given up is marked.
    /// - Parameter why: for the audit.
    /// - Returns: false where it waits already, or where its event is no longer kept or no longer wanted; then nothing is recorded.
    package func resend(_ delivery: DeliveryRecord, by person: String, why: String) async throws -> Bool {
        // Events are kept by the day on which they were written.
        let selection = EventSelection(
            eventIDs: [delivery.eventID], since: delivery.toldAt, until: delivery.toldAt.adding(.milliseconds(1)),
            endpointID: delivery.endpointID)
        let isGivenUp = delivery.outcome == .dead && delivery.resentAt == nil
        return try await putBack(
            delivery.endpointID, picking: isGivenUp ? .dead(selection, limit: 1) : .named(selection),
            ResendAct(person: person, why: why, deliveryID: delivery.id)
        ).put > 0
    }

    /// Whether an event is still to be delivered to an endpoint, which it was dealt out to.
    package func isPending(_ eventID: Int64, to endpointID: Int64) async throws -> Bool {
        try await pool.query(.isPending(eventID, to: endpointID)).one().decode(0)
    }

    /// Who sends something again, for the audit.
    private struct ResendAct: Sendable {
        var person: String
        var why: String?
        /// The delivery, where it is one.
        var deliveryID: Int64?
    }

    /// The cursors are locked, so that there is no fan-out meanwhile and no lane is made twice. What is put back is on record in the same
    /// transaction.
    /// - Returns: how many deliveries were picked, and how many of them were not pending already.
    private func putBack(
        _ endpointID: Int64?, picking pick: PostgresQuery, _ act: ResendAct
    ) async throws -> (picked: Int, put: Int) {
        let options = TransactionOptions(isDurable: true, name: "delivery.resend")
        let row = try await pool.withTransaction(options) { session in
            try session.query(
                PostgresQuery(
                    "delivery.resend_hold",
                    """
                    select from storehook.endpoint_cursors
                     where \(endpointID)::bigint is null or endpoint_id = \(endpointID)
                     order by endpoint_id for update
                    """))
            let row = try session.query(
                PostgresQuery(
                    "delivery.resend",
                    """
                    with \(embedding: pick), lane as (
                        insert into storehook.delivery_lanes as l (endpoint_id, subject, last_sequence)
                        select endpoint_id, subject, max(sequence) from picked group by endpoint_id, subject
                            on conflict (endpoint_id, subject) do update set last_sequence = l.last_sequence
                        returning id, endpoint_id, subject
                    ), pending as (
                        insert into storehook.deliveries_pending (
                            endpoint_id, lane_id, event_id, told_at, sequence, previous_sequence)
                        select endpoint_id, lane.id, p.event_id, p.told_at, p.sequence,
                               coalesce(p.previous_sequence,
                                        lag(p.sequence) over (partition by endpoint_id, subject order by p.sequence))
                          from picked p
                          join lane using (endpoint_id, subject)
                         where not exists (select from storehook.deliveries_pending o
                                            where o.lane_id = lane.id and o.event_id = p.event_id)
                         order by lane.id, p.sequence
                        returning endpoint_id, event_id, told_at
                    ), marked as (
                        update storehook.endpoint_cursors c set has_resends = true
                         where c.endpoint_id in (select endpoint_id from pending)
                    )
                    select (select count(*) from picked) as picked, count(*) as put,
                           coalesce(array_agg(endpoint_id order by endpoint_id, event_id), '{}') as endpoints,
                           coalesce(array_agg(event_id order by endpoint_id, event_id), '{}') as events,
                           coalesce(array_agg(told_at order by endpoint_id, event_id), '{}') as written
                      from pending
                    """)
            ).one()
            if try row.decode("put", as: Int64.self) > 0 {
                try Self.note(act.why, session)
                try session.query(
                    PostgresQuery(
                        "delivery.note_resent",
                        """
                        select storehook.note_resent(
                            \(String(act.person.prefix(200))), \(act.deliveryID), \(try row.decode("endpoints", as: [Int64].self)),
                            \(try row.decode("events", as: [Int64].self)), \(try row.decode("written", as: [PostgresTimestamp].self)))
                        """))
            }
            return row
        }
        return (Int(try row.decode("picked", as: Int64.self)), Int(try row.decode("put", as: Int64.self)))
    }
}

extension PostgresQuery {
    private static let subject = """
        e.environment || '/' || coalesce(
            e.token::text, coalesce(e.bundle_id, '') || '/' || coalesce(e.original_transaction_id, '')) as subject
        """
    /// The condition for an endpoint to want an event, as `n` and `e`. The backslash is a `chr(92)`, because a session may take one in a
    /// literal for the beginning of an escape.
    private static let wanting = """
        n.state <> 'removed'
        and (n.bundle_id is null or e.bundle_id is null or n.bundle_id = e.bundle_id or e.kind like 'account.%')
        and (n.environment is null or n.environment = e.environment)
        and (n.kinds is null or e.kind like any (
            array(select replace(replace(k, '_', chr(92) || '_'), '*', '%') from unnest(n.kinds) k)))
        """
    private static let columns = """
        n.id as endpoint_id, \(subject), e.id as event_id, e.told_at, e.sequence,
        (select d.previous_sequence from storehook.deliveries d
          where d.event_id = e.id and d.endpoint_id = n.id order by d.id desc limit 1) as previous_sequence
        """

    fileprivate static func isPending(_ eventID: Int64, to endpointID: Int64) -> PostgresQuery {
        PostgresQuery(
            "delivery.is_pending",
            """
            select exists (
                select from (select \(unescaped: subject), e.id from storehook.events e where e.id = \(eventID)) e
                  join storehook.delivery_lanes l on l.endpoint_id = \(endpointID) and l.subject = e.subject
                  join storehook.deliveries_pending p on p.lane_id = l.id and p.event_id = e.id)
            """)
    }

    /// Events by their numbers or of an account.
    fileprivate static func named(_ selection: EventSelection) -> PostgresQuery {
        """
        picked as materialized (
            select \(unescaped: columns)
              from storehook.events e
             -- By the day; what is joined might read all of them.
             cross join lateral (select position from storehook.event_positions p
                                  where p.told_at = e.told_at and p.id = e.id offset 0) p
              join storehook.endpoints n on \(unescaped: wanting)
              join storehook.endpoint_cursors c on c.endpoint_id = n.id and c.position >= p.position
             where (\(selection.eventIDs)::bigint[] is null or e.id = any (\(selection.eventIDs)))
               and (\(selection.token.map { UUID($0) })::uuid is null or e.token = \(selection.token.map { UUID($0) }))
               and (\(selection.since)::timestamptz is null or e.told_at >= \(selection.since))
               and (\(selection.until)::timestamptz is null or e.told_at < \(selection.until))
               and (\(selection.endpointID)::bigint is null or n.id = \(selection.endpointID))
        )
        """
    }

    /// Events by their places.
    fileprivate static func placed(_ selection: EventSelection, from first: Int64, to last: Int64) -> PostgresQuery {
        """
        picked as materialized (
            select \(unescaped: columns)
              from storehook.event_positions p
              join storehook.events e on e.told_at = p.told_at and e.id = p.id
              join storehook.endpoints n on \(unescaped: wanting)
              join storehook.endpoint_cursors c on c.endpoint_id = n.id and c.position >= p.position
             where p.position between \(first) and \(last)
               and p.last between \(first) and coalesce(
                   (select o.position from storehook.event_places o where o.position >= \(last) order by o.position limit 1),
                   \(last))
               and (\(selection.since)::timestamptz is null or e.told_at >= \(selection.since))
               and (\(selection.until)::timestamptz is null or e.told_at < \(selection.until))
               and (\(selection.endpointID)::bigint is null or n.id = \(selection.endpointID))
        )
        """
    }

    /// Dead deliveries whose events are still kept.
    fileprivate static func dead(_ selection: EventSelection, limit: Int64) -> PostgresQuery {
        """
        dead as materialized (
            select d.id
              from storehook.deliveries d
              join storehook.endpoints n on n.id = d.endpoint_id and n.state <> 'removed'
              join storehook.events e on e.told_at = d.told_at and e.id = d.event_id
             where d.outcome = 'dead' and d.resent_at is null
               and (\(selection.endpointID)::bigint is null or d.endpoint_id = \(selection.endpointID))
               and (\(selection.eventIDs)::bigint[] is null or d.event_id = any (\(selection.eventIDs)))
               and (\(selection.token.map { UUID($0) })::uuid is null or e.token = \(selection.token.map { UUID($0) }))
               and (\(selection.since)::timestamptz is null or d.told_at >= \(selection.since))
               and (\(selection.until)::timestamptz is null or d.told_at < \(selection.until))
             order by d.id limit \(limit) for update of d
        ), raised as (
            update storehook.deliveries d set resent_at = now() from dead where d.id = dead.id
            returning d.endpoint_id, d.event_id, d.told_at, d.sequence, d.previous_sequence
        ), picked as materialized (
            select distinct on (r.endpoint_id, r.event_id) r.endpoint_id, \(unescaped: subject), r.event_id, r.told_at, r.sequence,
                   r.previous_sequence
              from raised r join storehook.events e on e.told_at = r.told_at and e.id = r.event_id
             order by r.endpoint_id, r.event_id
        )
        """
    }
}
