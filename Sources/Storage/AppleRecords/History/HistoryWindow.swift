package import Base
package import EvidenceStore
package import Postgres

/// A claimed span of Apple's notification history, and how far it has been asked.
package struct HistoryWindow: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// Whose list it is of.
    package var scope: AppEnvironment
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
    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> HistoryWindow? {
        try await queue.claim(for: lease, among: scopes, joining: Self.windows) { row in
            HistoryWindow(
                id: try row.decode("id"),
                scope: AppEnvironment(
                    bundleID: try row.decode("bundle_id"), environment: try row.decode("environment")),
                startsAt: try row.decode("asks_from"), isCut: try row.decode("is_cut"),
                endsAt: try row.decode("ends_at"),
                token: try row.decode("walk_token"), attempts: Int(try row.decode("attempts", as: Int16.self)),
                lease: lease)
        }
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
