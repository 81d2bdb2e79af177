import EvidenceStore
package import Postgres

/// What is known of Apple's notification history: which spans of it were asked for, what they listed, what of that is held.
///
/// A window (``HistoryWindow``) is asked page by page, and each page is recorded in one transaction: what was missing
/// goes into the outbox, and the position moves on. So a worker killed at any moment has either done a page or not
/// begun it, and the next worker to claim the window goes on from there.
package struct History: Sendable {
    let pool: PostgresPool
    /// Where what was missing is stored.
    let outbox: Outbox
    /// Which windows are to be asked.
    package let queue: ScopedQueue
    /// Which purchases are to be asked for.
    package let refreshQueue: ScopedQueue
    /// Which of the pending notifications have been read before.
    let pending = PendingPayloads()

    /// The history behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        outbox = Outbox(pool)
        queue = ScopedQueue(Self.table, pool, of: "storehook.history_windows")
        refreshQueue = ScopedQueue(Self.refreshTable, pool, of: "storehook.refreshes")
    }

    static let table = QueueTable(
        name: "storehook.history_queue", statements: "history", channel: "storehook_history")
    static let refreshTable = QueueTable(
        name: "storehook.refresh_queue", statements: "refresh", channel: "storehook_refresh")

    /// When a window is asked again that listed something which is not Apple's.
    static let refusedAgain = Duration.seconds(3600)
}
