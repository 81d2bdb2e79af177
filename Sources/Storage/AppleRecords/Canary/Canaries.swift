package import Base
package import EvidenceStore
package import Postgres

/// The test notifications that Apple was asked for, and how each came through.
///
///     planned ──▶ asked of Apple ──▶ posted by Apple ──▶ stored ──▶ applied
///
/// One is under way for each app and environment, however many workers there are. Each look at it is a claim of its row, so a
/// worker that is killed between two leaves it to the next; one that is killed between asking and recording the answer has
/// Apple asked once more, which costs a test notification.
package struct Canaries: Sendable {
    let pool: PostgresPool
    /// Which of them are to be looked after.
    package let queue: ScopedQueue

    /// The canaries behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        queue = ScopedQueue(Self.table, pool, of: "storehook.canaries")
    }

    static let table = QueueTable(name: "storehook.canary_queue", statements: "canary", channel: "storehook_canary")

    /// Makes the canaries that are due, and forgets those that are 90 days old. Safe to run from many machines at once.
    /// - Parameter intervals: how long after one the next is due, for each app and environment.
    /// - Returns: how many were made.
    @discardableResult
    package func plan(_ intervals: [(scope: AppEnvironment, interval: Duration)]) async throws -> Int {
        try await pool.query(
            PostgresQuery(
                "canary.forget",
                """
                delete from storehook.canaries
                 where outcome is not null and planned_at < now() - interval '90 days'
                """))
        return try await pool.query(
            PostgresQuery(
                "canary.plan",
                """
                with made as (
                    insert into storehook.canaries (environment, bundle_id)
                    select s.environment, s.bundle_id
                      from unnest(\(intervals.map(\.scope.bundleID)), \(intervals.map(\.scope.environment)),
                                  \(intervals.map { $0.interval / .seconds(1) })) as s (bundle_id, environment, seconds)
                     where not exists (
                           select from storehook.canaries c
                            where c.bundle_id = s.bundle_id and c.environment = s.environment
                              and (c.outcome is null or c.planned_at > now() - make_interval(secs => s.seconds)))
                        on conflict do nothing
                    returning id
                )
                insert into storehook.canary_queue (id, received_at, due_at) select id, now(), now() from made
                returning id
                """)
        ).count
    }

    /// Claims the canary of these apps and environments that has been due for longest; nil if none is.
    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Canary? {
        try await queue.claim(for: lease, among: scopes, joining: Self.canaries) { row, claim in
            Canary(claim: claim, token: try row.decode("test_token"), age: try row.age("age"))
        }
    }

    private static let canaries = ClaimJoin(
        columns: """
            r.bundle_id, r.environment, r.test_token,
            extract(epoch from clock_timestamp() - r.asked_at)::double precision as age
            """,
        clause: "left join storehook.canaries r on r.id = c.id")
}
