package import Base
package import Postgres

extension History {
    /// Makes the windows that are missing, and takes away those that Apple's list has left.
    /// - Parameters:
    ///   - behind: how far behind the present the last one ends.
    ///   - partial: whether the last one may be shorter than an hour.
    /// - Returns: how many it made.
    @discardableResult
    package func plan(_ scopes: [AppEnvironment], behind: Duration, partial: Bool = false) async throws -> Int {
        try await Int(
            pool.query(
                PostgresQuery(
                    "history.plan",
                    """
                    select storehook.plan_history(
                        \(scopes.map(\.bundleID)), \(scopes.map(\.environment)),
                        make_interval(secs => \(behind / .seconds(1))), \(partial))
                    """)
            ).one().decode(0, as: Int32.self))
    }

    /// Makes windows due now: those that end after an instant or, without one, those that are not proven. A second look that a
    /// proven one still waits for stays where it is, for it is worth nothing before its time.
    package func requeueNow(_ scopes: [AppEnvironment], since: PostgresTimestamp?) async throws {
        try await pool.query(
            PostgresQuery(
                "history.hasten",
                """
                insert into storehook.history_queue as q (id, received_at, due_at)
                select w.id, now(), now()
                  from storehook.history_windows w
                  join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                       using (bundle_id, environment)
                 where case when \(since)::timestamptz is null then w.proven_at is null else w.ends_at > \(since) end
                    on conflict (id) do update set due_at = least(q.due_at, now())
                 where q.lease_token is null
                """))
    }

    /// How many windows are due, or under a lease.
    package func open(_ scopes: [AppEnvironment]) async throws -> (due: Int64, leased: Int64) {
        let row = try await pool.query(
            PostgresQuery(
                "history.open",
                """
                select count(*) filter (where q.due_at <= now()), count(*) filter (where q.due_at > now())
                  from storehook.history_queue q
                  join storehook.history_windows w using (id)
                  join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                       using (bundle_id, environment)
                 where q.due_at <= now() or q.lease_token is not null
                """)
        ).one()
        return (try row.decode(0), try row.decode(1))
    }

    /// How many processes are asking Apple, this one included: those that hold a purchase, or a window with a page
    /// recorded lately. A killed process holds its window until the lease ends, but asks no more.
    /// - Parameter lease: for how long windows are held from one page to the next.
    package func askers(beside owner: String, lease: Duration) async throws -> Int {
        try await Int(
            pool.query(
                PostgresQuery(
                    "history.askers",
                    """
                    select count(distinct asker)
                      from (select \(owner) as asker
                            union all
                            select lease_owner from storehook.history_queue
                             where lease_token is not null
                               and due_at > now() + make_interval(secs => \((lease - Self.lately) / .seconds(1)))
                            union all
                            select lease_owner from storehook.refresh_queue
                             where lease_token is not null and due_at > now()) a
                    """)
            ).one().decode(0, as: Int64.self))
    }

    /// Longer than a page takes while Apple answers, also where ten processes share the Sandbox's 5 requests a second.
    private static let lately = Duration.seconds(20)

    /// The time now, and how far back Apple's list goes, by the database's clock.
    package func reach(_ scope: AppEnvironment) async throws -> (oldest: PostgresTimestamp, now: PostgresTimestamp) {
        let row = try await pool.query(
            PostgresQuery(
                "history.reach",
                """
                select now() - storehook.history_reach(\(scope.environment)) + interval '10 minutes', now()
                """)
        ).one()
        return (try row.decode(0), try row.decode(1))
    }
}
