public import Postgres

extension Outbox {
    /// Claims up to `limit` due rows. The attempt is counted and committed before this returns, so that a row which ends
    /// the process is counted all the same.
    ///
    /// Rows whose last lease ran out are claimed one at a time: should one of them be what killed the worker, it takes no
    /// neighbour along again.
    /// - Parameter floor: looks at rows that fell due at or after this instant alone: see ``ClaimFloor``. Without one, at
    ///   every row.
    public func claim(
        _ limit: Int, for lease: Lease, from floor: PostgresTimestamp? = nil
    ) async throws -> ClaimedBatch {
        let rows = try await pool.query(.claim(limit, lease, floor))
        let bodies = try await headers.open(rows.map { try $0.decode("stored") }, pool)
        return try ClaimedBatch(
            token: lease.token,
            claimedAt: rows.first?.decode("claimed_at"),
            oldestDueAt: rows.first?.decode("oldest_due_at"),
            rows: zip(rows, bodies).compactMap { row, body in
                guard let id = try row.decode("id", as: Int64?.self) else { return nil }
                return try ClaimedNotification(
                    id: id,
                    receivedAt: row.decode("received_at"),
                    attempts: Int(row.decode("attempts", as: Int16.self)),
                    lapsed: row.decode("lapsed"),
                    lastReason: row.decode("last_reason"),
                    stored: body
                )
            }
        )
    }
}

extension PostgresQuery {
    /// A CTE is the fence: the locking select runs once, with its limit, whatever the planner thinks of the update. The
    /// first outer join is there for the clock: a claim that finds nothing tells the time too.
    fileprivate static func claim(_ limit: Int, _ lease: Lease, _ floor: PostgresTimestamp?) -> PostgresQuery {
        PostgresQuery(
            "outbox.claim",
            """
            with due as materialized (
                select id, due_at, lease_token is not null as lapsed
                  from storehook.outbox_queue
                 where due_at <= now() and due_at >= coalesce(\(floor), '-infinity'::timestamptz)
                 order by due_at, id
                 limit \(limit)
                   for update skip locked
            ), first as (
                select id, due_at, lapsed from due order by due_at, id limit 1
            ), claimed as (
                update storehook.outbox_queue q
                   set attempts = q.attempts + 1,
                       due_at = now() + make_interval(secs => \(Double(lease.seconds))),
                       lease_owner = \(lease.owner),
                       lease_token = \(lease.token)
                  from due, first
                 where q.id = due.id
                   and case when first.lapsed then due.id = first.id else not due.lapsed end
                returning q.id, q.received_at, q.attempts, due.lapsed, q.last_reason
            )
            select now() as claimed_at, (select due_at from first) as oldest_due_at,
                   c.id, received_at, attempts, lapsed, last_reason, stored
              from (select) as clock
              left join claimed c on true
              left join storehook.outbox_bodies(
                   (select array_agg(id order by id) from claimed),
                   (select array_agg(received_at order by id) from claimed)) b on b.id = c.id
             order by c.id
            """)
    }
}
