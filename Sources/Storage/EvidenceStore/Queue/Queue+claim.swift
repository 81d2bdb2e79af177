import Base
package import Postgres

extension Queue {
    /// Claims up to `limit` due rows, for a queue whose rows are complete in themselves.
    package func claim(
        _ limit: Int, for lease: Lease, from floor: PostgresTimestamp? = nil
    ) async throws -> ClaimedBatch<Void> {
        try await claim(limit, for: lease, from: floor, joining: nil) { rows in rows.map { _ in () } }
    }

    /// Claims up to `limit` due rows and reads their contents, as one step.
    ///
    /// The attempt is counted and committed before this returns, so that a row that kills the process is counted as
    /// well. Rows whose last lease ran out are claimed one at a time: if one of them killed the worker, it takes no
    /// others along again.
    ///
    /// Afterwards either the caller holds the rows or no worker does: if they cannot be read they are released, as if
    /// they had never been claimed. Two cases are left to the lease's end: an answer that was lost on its way, and a
    /// database that does not take the release.
    /// - Parameters:
    ///   - floor: claim only rows due at or after this instant: see ``ClaimFloor``. Nil looks at every row.
    ///   - allowed: returns the ids of rows that this claimer can process; nil if it can process all.
    ///   - join: what to fetch besides.
    ///   - read: the rows' contents, one for each, in the order of the rows.
    /// - Throws: `PostgresError`, or what `read` throws.
    package func claim<Content: Sendable>(
        _ limit: Int, for lease: Lease, from floor: PostgresTimestamp? = nil, among allowed: PostgresQuery? = nil,
        joining join: ClaimJoin?, _ read: @Sendable ([PostgresRow]) async throws -> [Content]
    ) async throws -> ClaimedBatch<Content> {
        let found = try await pool.query(claiming(limit, lease, floor, allowed, join))
        do {
            // A row without an id carries the clock where there was nothing to claim.
            let rows = try found.compactMap { row in
                try row.decode("id", as: Int64?.self).map { (id: $0, row: row) }
            }
            let contents = try await read(rows.map(\.row))
            precondition(
                contents.count == rows.count, "what \(rows.count) rows stand for was read for \(contents.count)")
            return try ClaimedBatch(
                token: lease.token,
                leaseEnd: lease.end,
                claimedAt: found.first?.decode("claimed_at"),
                oldestDueAt: found.first?.decode("oldest_due_at"),
                rows: zip(rows, contents).map { claimed, content in
                    try ClaimedRow(
                        id: claimed.id,
                        receivedAt: claimed.row.decode("received_at"),
                        attempts: Int(claimed.row.decode("attempts", as: Int16.self)),
                        lapsed: claimed.row.decode("lapsed"),
                        lapses: Int(claimed.row.decode("lapses", as: Int16.self)),
                        lastReason: claimed.row.decode("last_reason"),
                        content: content)
                })
        } catch {
            let ids = found.compactMap { (try? $0.decode("id", as: Int64?.self)) ?? nil }
            let isSuspect = found.contains { (try? $0.decode("lapsed", as: Bool?.self)) == true }
            throw await giveBack(ids, isSuspect, lease, after: error)
        }
    }

    /// Releases rows that could not be read.
    /// - Returns: the first error, which also says if the release failed.
    private func giveBack(_ ids: [Int64], _ isSuspect: Bool, _ lease: Lease, after error: any Error) async -> any Error
    {
        // In a task of its own: a cancelled claim must release its rows, too.
        let releasing = Task {
            for attempt in 1..<Self.releaseAttempts {
                do {
                    return try await release(ids, token: lease.token, isSuspect: isSuspect)
                } catch let error as PostgresError where error.isTransient {
                    try await Task.sleep(for: Self.releaseBackoff.pause(afterFailures: attempt))
                }
            }
            try await release(ids, token: lease.token, isSuspect: isSuspect)
        }
        guard case .failure = await releasing.result, var told = error as? PostgresError else { return error }
        told.message +=
            "; the \(ids.count) rows claimed before could not be given back and fall due when their lease ends"
        return told
    }

    private static let releaseAttempts = 3
    private static let releaseBackoff = RetrySchedule.doubling(from: .milliseconds(100), upTo: .seconds(1))

    /// A CTE is the fence: the locking select runs once, with its limit, whatever the planner makes of the update. The
    /// first outer join is there for the clock, which is returned even if nothing was claimed. The counters stop short
    /// of smallint's limit: a row that is never given up would otherwise make every claim fail.
    private func claiming(
        _ limit: Int, _ lease: Lease, _ floor: PostgresTimestamp?, _ allowed: PostgresQuery?, _ join: ClaimJoin?
    ) -> PostgresQuery {
        let lead: PostgresQuery = allowed.map { "allowed as (\(embedding: $0)), " } ?? ""
        return PostgresQuery(
            "\(table.statements).claim",
            """
            with \(embedding: lead)due as materialized (
                select id, due_at, \(unescaped: table.order == .dueFirst ? "" : "received_at, ")lease_token is not null as lapsed
                  from \(unescaped: table.name)
                 where due_at <= now() and due_at >= coalesce(\(floor), '-infinity'::timestamptz)
                   \(unescaped: allowed == nil ? "" : "and id in (select id from allowed)")
                 order by \(unescaped: table.order.rawValue)
                 limit \(limit)
                   for update skip locked
            ), first as (
                select id, due_at, lapsed from due order by \(unescaped: table.order.rawValue) limit 1
            ), claimed as (
                update \(unescaped: table.name) q
                   set attempts = least(q.attempts + 1, 32000),
                       lapses = least(q.lapses + due.lapsed::integer, 32000),
                       due_at = now() + make_interval(secs => \(lease.duration / .seconds(1))),
                       lease_owner = \(lease.owner),
                       lease_token = \(lease.token)
                  from due, first
                 where q.id = due.id
                   and case when first.lapsed then due.id = first.id else not due.lapsed end
                returning q.id, q.received_at, q.attempts, due.lapsed, q.lapses, q.last_reason
            )
            select now() as claimed_at, (select due_at from first) as oldest_due_at,
                   c.id, c.received_at, c.attempts, c.lapsed, c.lapses, c.last_reason\(unescaped: join.map { ", \($0.columns)" } ?? "")
              from (select) as clock
              left join claimed c on true
              \(unescaped: join?.clause ?? "")
             order by c.id
            """)
    }
}
