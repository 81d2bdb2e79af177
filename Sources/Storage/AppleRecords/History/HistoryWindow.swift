package import Base
package import EvidenceStore
package import Postgres

/// A claimed span of Apple's notification history, and how far it has been asked.
package struct HistoryWindow: ScopedRow, Hashable {
    /// The claim, with the app and environment of the list.
    package var claim: ScopedClaim
    /// Where it begins, or as far back as Apple's list still reaches.
    package var startsAt: PostgresTimestamp
    /// Whether Apple's list has left its beginning.
    package var isCut: Bool
    /// Where it ends.
    package var endsAt: PostgresTimestamp
    /// Apple's token for the page to ask for; nil for the first.
    package var token: String?
    /// How many pages of the present list were recorded.
    package var pages: Int64
}

extension History {
    /// Claims the window that has been due for longest; nil if none is.
    /// - Parameter scopes: the app environments that this process has API keys for.
    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> HistoryWindow? {
        try await queue.claim(for: lease, among: scopes, joining: Self.windows) { row, claim in
            HistoryWindow(
                claim: claim, startsAt: try row.decode("asks_from"), isCut: try row.decode("is_cut"),
                endsAt: try row.decode("ends_at"), token: try row.decode("walk_token"),
                pages: try row.decode("walk_pages"))
        }
    }

    /// What is beyond Apple's reach is not asked for; some minutes less, for clocks that differ.
    private static let windows = ClaimJoin(
        columns: """
            w.bundle_id, w.environment, w.ends_at, w.walk_token, w.walk_pages,
            least(greatest(w.starts_at, now() - storehook.history_reach(w.environment) + interval '10 minutes'),
                  w.ends_at - interval '1 millisecond') as asks_from,
            w.starts_at < now() - storehook.history_reach(w.environment) + interval '10 minutes' as is_cut
            """,
        clause: "left join storehook.history_windows w on w.id = c.id")

    /// Begins a window from its first page: Apple's token has expired.
    /// - Returns: whether the window is still held.
    package func beginAgain(_ window: HistoryWindow) async throws -> Bool {
        try await queue.update(
            window.claim,
            PostgresQuery(
                "history.begin_again",
                """
                update storehook.history_windows
                   set walk_token = null, walk_pages = 0, walk_listed = 0, walk_refused = 0, walk_reason = null
                 where id = \(window.id)
                """))
    }
}
