package import Foundation
import Postgres

extension Queue {
    /// Puts claimed rows off: each is due again after its delay. Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    /// - Parameters:
    ///   - delays: one for each id, from now on by the database's clock.
    ///   - reason: what the next claim is told, a code of the owner's.
    package func reschedule(_ ids: [Int64], by delays: [Duration], reason: String, token: UUID) async throws {
        guard !ids.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "\(table.statements).reschedule",
                """
                update \(unescaped: table.name) q
                   set due_at = now() + make_interval(secs => rescheduled.delay),
                       lease_owner = null, lease_token = null, last_reason = \(reason)
                  from unnest(\(ids), \(delays.map { $0 / .seconds(1) })) as rescheduled (id, delay)
                 where q.id = rescheduled.id and q.lease_token = \(token)
                """))
    }

    /// Puts claimed rows off for a reason that is not theirs: each is due again after its delay, the attempt uncounted.
    /// Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    /// - Parameters:
    ///   - delays: one for each id, from now on by the database's clock.
    ///   - reason: what whoever looks at the queue is told, a code of the owner's.
    package func postpone(_ ids: [Int64], by delays: [Duration], reason: String, token: UUID) async throws {
        guard !ids.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "\(table.statements).postpone",
                """
                update \(unescaped: table.name) q
                   set due_at = now() + make_interval(secs => postponed.delay), attempts = attempts - 1,
                       lease_owner = null, lease_token = null, last_reason = \(reason)
                  from unnest(\(ids), \(delays.map { $0 / .seconds(1) })) as postponed (id, delay)
                 where q.id = postponed.id and q.lease_token = \(token)
                """))
    }

    /// Gives back rows that were claimed and not begun, as if they never had been: due at once, the attempt uncounted.
    /// Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    package func release(_ ids: [Int64], token: UUID) async throws {
        guard !ids.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "\(table.statements).release",
                """
                update \(unescaped: table.name)
                   set due_at = now(), attempts = attempts - 1, lease_owner = null, lease_token = null
                 where id = any(\(ids)) and lease_token = \(token)
                """))
        // Who else is waiting should not have to wait for its next poll.
        announce()
    }
}
