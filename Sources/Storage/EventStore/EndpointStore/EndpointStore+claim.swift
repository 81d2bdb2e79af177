package import EvidenceStore
package import Postgres

extension EndpointStore {
    /// Claims due lanes of an endpoint, each with its first pending deliveries; none where the endpoint is paused,
    /// rests, or is not called at all.
    /// - Parameters:
    ///   - floor: see ``/Queue/ClaimFloor``.
    ///   - perLane: how many deliveries of a lane to read.
    package func claim(
        _ limit: Int, of endpointID: Int64, for lease: Lease, from floor: PostgresTimestamp? = nil, perLane: Int = 8
    ) async throws -> ClaimedBatch<[Delivery]> {
        try await queue.claim(
            limit, for: lease, from: floor,
            among: PostgresQuery(
                "delivery.lanes",
                """
                select q.id
                  from storehook.delivery_queue q
                 where q.endpoint_id = \(endpointID) and q.due_at <= now()
                   and q.due_at >= coalesce(\(floor), '-infinity'::timestamptz)
                   and exists (select from storehook.endpoint_health h
                                 join storehook.endpoints e on e.id = h.endpoint_id
                                where h.endpoint_id = \(endpointID) and e.state = 'enabled' and h.paused_at is null
                                  and coalesce(h.rest_until <= now(), true))
                 order by q.due_at, q.id
                 limit \(Int64(limit) * 2 + 32)
                """),
            joining: nil
        ) { try await waiting($0, perLane) }
    }

    /// Claims one lane of a paused endpoint, with its first pending delivery, when a probe is due; one claimer at a
    /// time. If no lane is due, the earliest one is taken before its time.
    package func claimProbe(of endpointID: Int64, for lease: Lease) async throws -> ClaimedBatch<[Delivery]>? {
        let isTime: Bool = try await pool.query(
            PostgresQuery(
                "delivery.probe",
                """
                with probe as (
                    update storehook.endpoint_health
                       set probe_at = now() + make_interval(secs => \(lease.duration / .seconds(1)))
                     where endpoint_id = \(endpointID) and paused_at is not null and probe_at <= now()
                       and coalesce(rest_until <= now(), true)
                    returning endpoint_id
                ), first as (
                    select q.id from storehook.delivery_queue q join probe using (endpoint_id)
                     where q.lease_token is null or q.due_at <= now()
                     order by q.due_at, q.id limit 1 for update of q skip locked
                ), woken as (
                    update storehook.delivery_queue q set resumes_at = q.due_at, due_at = now() from first
                     where q.id = first.id and q.due_at > now()
                )
                select exists (select from first)
                """)
        ).one().decode(0)
        guard isTime else { return nil }
        return try await queue.claim(
            1, for: lease,
            among: PostgresQuery(
                "delivery.probed_lanes",
                """
                select q.id
                  from storehook.delivery_queue q
                  join storehook.endpoints e on e.id = q.endpoint_id
                 where q.endpoint_id = \(endpointID) and q.due_at <= now() and e.state = 'enabled'
                 order by q.due_at, q.id
                 limit 32
                """),
            joining: nil
        ) { try await waiting($0, 1) }
    }

    /// Takes up to `wanted` deliveries of the allowance that the endpoint's rate gives. Allowance accumulates for at most
    /// a second.
    /// - Returns: how many; they count as taken whether they are made or not.
    package func takeAllowance(_ wanted: Int, of endpointID: Int64, rate: Int) async throws -> Int {
        guard wanted > 0 else { return 0 }
        let rate = Double(max(rate, 1))
        return try await pool.query(
            PostgresQuery(
                "delivery.allowance",
                """
                with spent as (
                    select endpoint_id, greatest(spent_until, now() - interval '1 second') as until
                      from storehook.endpoint_health where endpoint_id = \(endpointID) for update
                ), granted as (
                    select endpoint_id, until,
                           least(\(Double(wanted)), floor(extract(epoch from now() - until)::double precision * \(rate))) as count
                      from spent
                )
                update storehook.endpoint_health h
                   set spent_until = g.until + make_interval(secs => g.count / \(rate))
                  from granted g
                 where h.endpoint_id = g.endpoint_id and g.count >= 1
                returning g.count::bigint
                """)
        ).first.map { Int(try $0.decode(0, as: Int64.self)) } ?? 0
    }

    /// The first pending deliveries of each lane, in the lanes' order. The rows that belong to each are looked up
    /// separately (`limit 1`), however many the plan, which is made for all values, expects.
    private func waiting(_ lanes: [PostgresRow], _ perLane: Int) async throws -> [[Delivery]] {
        let ids = try lanes.map { try $0.decode("id", as: Int64.self) }
        guard !ids.isEmpty else { return [] }
        let rows = try await pool.query(
            PostgresQuery(
                "delivery.waiting",
                """
                select lane.n, \(unescaped: "\(Delivery.columns)"), \(unescaped: PlacedEvent.accountColumn)
                  from unnest(\(ids)) with ordinality as lane (id, n)
                 cross join lateral (select * from storehook.deliveries_pending p
                                      where p.lane_id = lane.id order by p.id limit \(Int64(perLane))) p
                  left join lateral (select * from storehook.delivery_queue q where q.id = lane.id limit 1) q on true
                  left join lateral (select * from storehook.events e
                                      where e.told_at = p.told_at and e.id = p.event_id limit 1) e on true
                  left join lateral (select * from storehook.accounts a where a.token = e.token limit 1) a on true
                 order by lane.n, p.id
                """
            ).keepingPlan())
        var deliveries = [[Delivery]](repeating: [], count: ids.count)
        for row in rows { deliveries[Int(try row.decode("n", as: Int64.self)) - 1].append(try Delivery(row)) }
        return deliveries
    }
}
