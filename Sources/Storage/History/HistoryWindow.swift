package import Postgres
package import Queue

/// A claimed span of Apple's notification history, and how far it has been asked.
package struct HistoryWindow: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// Whose list it is of.
    package var scope: HistoryScope
    /// Where it begins, or as far back as Apple's list still reaches.
    package var startsAt: PostgresTimestamp
    /// Whether Apple's list has left its beginning.
    package var isCut: Bool
    /// Where it ends.
    package var endsAt: PostgresTimestamp
    /// Apple's token for the page to ask for; nil for the first.
    package var token: String?
    /// Claims so far, this one included.
    package var attempts: Int
    /// Who holds it.
    package var lease: Lease
}

extension History {
    /// Claims the window that has been due for longest; nil if none is.
    /// - Parameter scopes: whose windows whoever asks has keys for: the others are somebody else's.
    package func claim(for lease: Lease, among scopes: [HistoryScope]) async throws -> HistoryWindow? {
        let allowed: PostgresQuery = """
            select w.id
              from storehook.history_queue waiting
              join storehook.history_windows w using (id)
              join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                   on s.bundle_id = w.bundle_id and s.environment = w.environment
            """
        let batch = try await queue.claim(1, for: lease, among: allowed, joining: Self.windows) { rows in
            try rows.map { row in
                HistoryWindow(
                    id: try row.decode("id"),
                    scope: HistoryScope(
                        bundleID: try row.decode("bundle_id"), environment: try row.decode("environment")),
                    startsAt: try row.decode("asks_from"), isCut: try row.decode("is_cut"),
                    endsAt: try row.decode("ends_at"),
                    token: try row.decode("walk_token"), attempts: Int(try row.decode("attempts", as: Int16.self)),
                    lease: lease)
            }
        }
        return batch.rows.first?.content
    }

    /// What is beyond Apple's reach is not asked for; some minutes less, for clocks that differ.
    private static let windows = ClaimJoin(
        columns: """
            w.bundle_id, w.environment, w.ends_at, w.walk_token,
            least(greatest(w.starts_at, now() - storehook.history_reach(w.environment) + interval '10 minutes'),
                  w.ends_at - interval '1 millisecond') as asks_from,
            w.starts_at < now() - storehook.history_reach(w.environment) + interval '10 minutes' as is_cut
            """,
        clause: "left join storehook.history_windows w on w.id = c.id")

    /// Puts a window off: it is due again after a while.
    /// - Parameters:
    ///   - reason: a code, for people.
    ///   - isItsOwn: whether the reason lies with the window, and the attempt counts.
    package func putOff(_ window: HistoryWindow, by delay: Duration, reason: String, isItsOwn: Bool) async throws {
        try await queue.putOff(window.id, by: delay, reason: reason, isItsOwn: isItsOwn, window.lease)
    }

    /// Puts off all windows of an app in an environment that are due or fall due by then: whatever is asked there meanwhile would
    /// fail the same way. What is held by somebody stays with them.
    package func putOff(windowsOf scope: HistoryScope, by delay: Duration, reason: String) async throws {
        try await pool.query(
            PostgresQuery(
                "history.put_off_all",
                """
                update storehook.history_queue q
                   set due_at = until.due_at, last_reason = \(String(reason.prefix(100)))
                  from storehook.history_windows w,
                       (select now() + make_interval(secs => \(delay / .seconds(1))) as due_at) as until
                 where w.id = q.id and w.bundle_id = \(scope.bundleID) and w.environment = \(scope.environment)
                   and q.lease_token is null and q.due_at < until.due_at
                """))
    }

    /// Gives a window back that was not asked to its end, as if it had not been claimed; its position stays.
    package func giveBack(_ window: HistoryWindow) async throws {
        try await queue.release([window.id], token: window.lease.token)
    }

    /// Begins a window from its first page: Apple's token has expired.
    /// - Returns: whether the window is still held.
    package func beginAgain(_ window: HistoryWindow) async throws -> Bool {
        try await pool.withTransaction { session in
            guard
                try !Self.table.renew([window.id], token: window.lease.token, for: window.lease.duration, session)
                    .isEmpty
            else { return false }
            try session.query(
                PostgresQuery(
                    "history.begin_again",
                    """
                    update storehook.history_windows
                       set walk_token = null, walk_pages = 0, walk_listed = 0, walk_refused = 0, walk_reason = null
                     where id = \(window.id)
                    """))
            return true
        }
    }
}

extension Queue {
    /// Puts one row off. What is not the row's own fault is not counted: who waits for a key, or for Apple, may wait for months.
    func putOff(_ id: Int64, by delay: Duration, reason: String, isItsOwn: Bool, _ lease: Lease) async throws {
        let reason = String(reason.prefix(100))
        if isItsOwn {
            try await reschedule([id], by: [delay], reason: reason, token: lease.token)
        } else {
            try await postpone([id], by: [delay], reason: reason, token: lease.token)
        }
    }
}
