package import Foundation
package import Postgres

extension Queue {
    /// Puts claimed rows off: each is due again after its delay. The attempt counts, unlike with
    /// ``postpone(_:by:reason:token:)``. Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    /// - Parameters:
    ///   - delays: one for each id, from now on by the database's clock.
    ///   - reason: a code of the owner's, which the next claim returns.
    /// - Returns: how many of them were still held.
    @discardableResult
    package func reschedule(_ ids: [Int64], by delays: [Duration], reason: String, token: UUID) async throws -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await pool.query(
            PostgresQuery(
                "\(table.statements).reschedule",
                """
                update \(unescaped: table.name) q
                   set due_at = now() + make_interval(secs => rescheduled.delay),
                       lease_owner = null, lease_token = null, last_reason = \(reason)
                  from unnest(\(ids), \(delays.map { $0 / .seconds(1) })) as rescheduled (id, delay)
                 where q.id = rescheduled.id and q.lease_token = \(token)
                """)
        ).affectedRows
    }

    /// Puts claimed rows off for a reason outside of the rows: each is due again after its delay, the attempt
    /// uncounted. Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    /// - Parameters:
    ///   - delays: one for each id, from now on by the database's clock.
    ///   - reason: a code of the owner's, for readers of the queue.
    /// - Returns: how many of them were still held.
    @discardableResult
    package func postpone(_ ids: [Int64], by delays: [Duration], reason: String, token: UUID) async throws -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await pool.query(
            PostgresQuery(
                "\(table.statements).postpone",
                """
                update \(unescaped: table.name) q
                   set due_at = now() + make_interval(secs => postponed.delay), attempts = attempts - 1,
                       lease_owner = null, lease_token = null, last_reason = \(reason)
                  from unnest(\(ids), \(delays.map { $0 / .seconds(1) })) as postponed (id, delay)
                 where q.id = postponed.id and q.lease_token = \(token)
                """)
        ).affectedRows
    }

    /// Puts one claimed row off. Only the row's own failures count: a row that waits for a key, or for Apple, may wait
    /// for months.
    /// - Parameters:
    ///   - reason: a code; cut to 100 characters.
    ///   - isItsOwn: whether the failure is the row's own.
    package func putOff(_ id: Int64, by delay: Duration, reason: String, isItsOwn: Bool, _ lease: Lease) async throws {
        let reason = String(reason.prefix(100))
        if isItsOwn {
            try await reschedule([id], by: [delay], reason: reason, token: lease.token)
        } else {
            try await postpone([id], by: [delay], reason: reason, token: lease.token)
        }
    }

    /// Puts off rows that no worker holds and that are due before the delay is over: until then they would fail in the
    /// same way. No attempt is counted.
    /// - Parameters:
    ///   - ids: returns the ids of the rows, in a column `id`.
    ///   - reason: a code; cut to 100 characters.
    package func putOffWaiting(_ ids: PostgresQuery, by delay: Duration, reason: String) async throws {
        try await pool.query(
            PostgresQuery(
                "\(table.statements).put_off_waiting",
                """
                with theirs as (\(embedding: ids))
                update \(unescaped: table.name) q
                   set due_at = until.due_at, last_reason = \(String(reason.prefix(100)))
                  from theirs, (select now() + make_interval(secs => \(delay / .seconds(1))) as due_at) as until
                 where q.id = theirs.id and q.lease_token is null and q.due_at < until.due_at
                """))
    }

    /// Releases rows that were claimed and not begun, as if they had not been claimed: due at once, the attempt
    /// uncounted. Fenced like ``QueueTable/acknowledge(_:token:_:)``.
    /// - Parameter isSuspect: whether the claim found their lease run out. Then the next claim must find the same and
    ///   take them one by one: they keep an expired lease with a random token.
    package func release(_ ids: [Int64], token: UUID, isSuspect: Bool = false) async throws {
        guard !ids.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "\(table.statements).release",
                """
                update \(unescaped: table.name)
                   set due_at = now(), attempts = attempts - 1, lapses = lapses - \(isSuspect)::boolean::integer,
                       lease_owner = case when \(isSuspect) then lease_owner end,
                       lease_token = case when \(isSuspect) then gen_random_uuid() end
                 where id = any(\(ids)) and lease_token = \(token)
                """))
        // So that other waiting workers need not wait for their next poll.
        announce()
    }
}
