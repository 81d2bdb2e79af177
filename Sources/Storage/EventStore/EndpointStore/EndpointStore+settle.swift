import EvidenceStore
package import Foundation
package import Postgres

extension EndpointStore {
    /// The result of settling.
    package struct Settled: Sendable, Hashable {
        /// The lanes that were still held; other workers settle the rest.
        package var held: Set<Int64> = []
        /// The endpoint's new state; nil where it did not change.
        package var change: Change?
        /// When, by the database's clock.
        package var at: PostgresTimestamp?
    }

    /// A change of an endpoint's state.
    package enum Change: String, Sendable, Hashable {
        /// It is only probed from now on.
        case paused
        /// It is called normally again.
        case resumed
        /// It has failed for days, and is no longer called.
        case disabled
        /// It answered that it is gone, and is no longer called.
        case gone
    }

    /// Settles lanes of one endpoint that were claimed together: finished deliveries are recorded, and the rest waits
    /// for its turn. Fenced: nothing is written about a lane that is no longer held.
    /// - Parameter idleTimeout: see `TransactionOptions`.
    package func settle(
        _ lanes: [LaneOutcome], of endpointID: Int64, token: UUID, _ news: EndpointNews, idleTimeout: Duration? = nil
    ) async throws -> Settled {
        let options = TransactionOptions(idleTimeout: idleTimeout, keepsPlans: true, name: "delivery.settle")
        return try await pool.withTransaction(options) { session in
            var settled = Settled()
            settled.held = try Self.table.acknowledge(lanes.map(\.laneID), token: token, session)
            let held = lanes.filter { settled.held.contains($0.laneID) }
            if !held.isEmpty {
                settled.at = try session.query(.settle(held, endpointID)).one().decode(0)
            }
            if news.isGone {
                let isNew = try session.query(.disable(endpointID, .gone)).affectedRows > 0
                settled.change = isNew ? .gone : nil
            } else if news.successes > 0 {
                let wasPaused = try session.query(.heal(endpointID)).first?.decode(0, as: Bool.self)
                settled.change = wasPaused == true ? .resumed : nil
            } else if news.failures > 0 {
                let row = try session.query(.fail(endpointID, news)).first
                if try row?.decode("is_over", as: Bool.self) == true {
                    let isNew = try session.query(.disable(endpointID, .failing)).affectedRows > 0
                    settled.change = isNew ? .disabled : nil
                } else if try row?.decode("is_newly_paused", as: Bool.self) == true {
                    settled.change = .paused
                }
            }
            if let rest = news.rest { try session.query(.rest(endpointID, rest)) }
            return settled
        }
    }
}

extension PostgresQuery {
    /// A lane with pending deliveries is queued again, after its retry's delay or at once. The lanes' rows were
    /// deleted before, by the fence, so that a concurrent fan-out either is seen here or finds no row.
    fileprivate static func settle(_ lanes: [LaneOutcome], _ endpointID: Int64) -> PostgresQuery {
        let ends = lanes.flatMap(\.ends)
        let ids = ends.map(\.deliveryID)
        let attempts = lanes.flatMap(\.attempts)
        return PostgresQuery(
            "delivery.settle",
            """
            with ended as (
                select * from unnest(
                    \(ids), \(ends.map(\.isDelivered)), \(ends.map { Int32(clamping: $0.attempts) }),
                    \(ends.map { $0.status.map { Int16(clamping: $0) } }), \(ends.map { $0.reason.map { String($0.prefix(200)) } })
                ) as ended (id, is_delivered, attempts, status, reason)
            ), gone as (
                delete from storehook.deliveries_pending p using ended where p.id = ended.id
                returning p.id, p.endpoint_id, p.event_id, p.told_at, p.sequence, p.previous_sequence
            ), kept as (
                insert into storehook.deliveries (
                    id, endpoint_id, event_id, told_at, sequence, previous_sequence, outcome, attempts, status, reason)
                select g.id, g.endpoint_id, g.event_id, g.told_at, g.sequence, g.previous_sequence,
                       case when ended.is_delivered then 'delivered' else 'dead' end, ended.attempts, ended.status, ended.reason
                  from gone g join ended using (id)
                 order by g.id
            ), attempted as (
                insert into storehook.delivery_attempts (
                    delivery_id, event_id, attempted_at, milliseconds, code, status, answer)
                select n.delivery_id, n.event_id, n.attempted_at, n.milliseconds, n.code, n.status,
                       -- One about somebody who was erased meanwhile is not kept.
                       case when n.answer is not null and not exists (
                           select from storehook.deliveries_pending p
                             join storehook.events e on e.told_at = p.told_at and e.id = p.event_id
                             join storehook.accounts a on a.token = e.token
                            where p.id = n.delivery_id and a.erased_at is not null) then n.answer end
                  from unnest(
                    \(attempts.map(\.deliveryID)), \(attempts.map(\.eventID)), \(attempts.map(\.at)),
                    \(attempts.map { Int32(clamping: max(0, Int64($0.duration / .milliseconds(1)))) }),
                    \(attempts.map { String($0.code.prefix(60)) }), \(attempts.map { $0.status.map { Int16(clamping: $0) } }),
                    \(attempts.map { $0.answer.map { DeliveryAttempt.kept($0) } })
                ) n (delivery_id, event_id, attempted_at, milliseconds, code, status, answer)
            ), again as (
                insert into storehook.delivery_queue (
                    id, endpoint_id, received_at, due_at, attempts, lapses, last_reason, resumes_at)
                select lane.id, \(endpointID), first.told_at, now() + make_interval(secs => lane.delay), lane.attempts,
                       lane.lapses, lane.reason, case when lane.was_early then now() + make_interval(secs => lane.delay) end
                  from unnest(
                           \(lanes.map(\.laneID)), \(lanes.map { ($0.retry?.delay ?? .zero) / .seconds(1) }),
                           \(lanes.map { Int16(clamping: min($0.retry?.attempts ?? 0, 32_000)) }),
                           \(lanes.map { Int16(clamping: min($0.retry?.lapses ?? 0, 32_000)) }),
                           \(lanes.map { $0.retry.map { String($0.reason.prefix(100)) } }),
                           \(lanes.map { $0.retry?.wasEarly ?? false })
                       ) as lane (id, delay, attempts, lapses, reason, was_early)
                 cross join lateral (select p.told_at from storehook.deliveries_pending p
                                      where p.lane_id = lane.id and p.id <> all (\(ids))
                                      order by p.id limit 1) first
            )
            select clock_timestamp()
            """)
    }

    /// Makes postponed deliveries due now as an extra attempt. If it fails, the normal schedule continues, and the
    /// delivery is not brought forward again. Otherwise an endpoint that rejects some events would flap between paused
    /// and healthy, and an endpoint that crashes at an event would use up a schedule of days within minutes.
    fileprivate static func heal(_ endpointID: Int64) -> PostgresQuery {
        PostgresQuery(
            "delivery.heal",
            """
            with before as (
                select paused_at is not null as was_paused from storehook.endpoint_health
                 where endpoint_id = \(endpointID) and failures > 0 for update
            ), healed as (
                update storehook.endpoint_health h
                   set failures = 0, faults = 0, failing_since = null, paused_at = null, probe_at = null, probes = 0
                  from before where h.endpoint_id = \(endpointID)
            ), due as (
                update storehook.delivery_queue q
                   set resumes_at = q.due_at, due_at = now()
                  from before
                 where before.was_paused and q.endpoint_id = \(endpointID) and q.lease_token is null and q.due_at > now()
                   and coalesce(q.resumes_at <= now(), true)
            )
            select was_paused from before
            """)
    }

    /// A paused endpoint is probed after about 5 s, and then at doubling intervals up to a minute.
    fileprivate static func fail(_ endpointID: Int64, _ news: EndpointNews) -> PostgresQuery {
        PostgresQuery(
            "delivery.fail",
            """
            with before as (
                select paused_at, failures + \(Int32(clamping: news.failures)) as failures,
                       faults + \(Int32(clamping: news.faults)) as faults,
                       coalesce(failing_since, now()) as failing_since
                  from storehook.endpoint_health where endpoint_id = \(endpointID) for update
            ), after as (
                select *, paused_at is null and faults >= \(Int32(EndpointStore.failuresUntilPause)) as is_newly_paused,
                       failing_since < now() - make_interval(secs => \(EndpointStore.disabledAfter / .seconds(1))) as is_over
                  from before
            )
            update storehook.endpoint_health h
               set failures = after.failures, faults = after.faults, failing_since = after.failing_since,
                   last_failure = coalesce(\(news.lastFailure.map { String($0.prefix(200)) }), h.last_failure),
                   paused_at = case when after.is_newly_paused then now() else h.paused_at end,
                   probes = case when after.is_newly_paused then 0 else h.probes + \(news.isProbe)::boolean::integer end,
                   probe_at = case when after.is_newly_paused or \(news.isProbe) and h.paused_at is not null
                                   then now() + make_interval(secs => (0.75 + random() / 4)
                                        * case when after.is_newly_paused then 5
                                               else least(60, 5 * power(2, least(h.probes + 1, 6))) end)
                                   else h.probe_at end
              from after
             where h.endpoint_id = \(endpointID)
            returning after.is_newly_paused, after.is_over
            """)
    }

    fileprivate static func rest(_ endpointID: Int64, _ rest: Duration) -> PostgresQuery {
        PostgresQuery(
            "delivery.rest",
            """
            update storehook.endpoint_health
               set rest_until = greatest(rest_until, now() + make_interval(secs => \(rest / .seconds(1))))
             where endpoint_id = \(endpointID)
            """)
    }

    fileprivate static func disable(_ endpointID: Int64, _ fault: Endpoint.Fault) -> PostgresQuery {
        PostgresQuery(
            "delivery.disable",
            """
            update storehook.endpoints
               set state = 'disabled', reason = \(fault.rawValue), changed_at = now(), changed_by = 'storehook'
             where id = \(endpointID) and state = 'enabled'
            """)
    }
}
