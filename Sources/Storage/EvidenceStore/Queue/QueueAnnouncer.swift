import Postgres
import Synchronization

/// Sends workers hints about new work, outside of the transaction that queued it. A hint may fail or be late without
/// harm, as workers also poll.
///
/// It must not be part of that transaction. PostgreSQL keeps each notification until every listening session has read
/// it, and a session that listens within a transaction reads nothing: at 8 GB every transaction that notifies fails
/// (PostgreSQL's manual, NOTIFY).
///
/// Hints are merged: the first goes out at once, and those that come while it is on its way or shortly after are one.
final class QueueAnnouncer: Sendable {
    private struct State {
        var isWanted = false
        var isRunning = false
    }

    private let pool: PostgresPool
    private let statement: PostgresQuery
    private let state = Mutex(State())

    /// The shortest time between two hints. Long compared with a hint's cost, short compared with a
    /// claim and its batch.
    private static let interval = Duration.milliseconds(25)
    private static let deadline = Duration.seconds(2)

    init(_ table: QueueTable, _ pool: PostgresPool) {
        self.pool = pool
        // Its commit waits neither for the disk nor for a standby: a hint need not survive.
        statement = PostgresQuery(
            "\(table.statements).wake",
            "select set_config('synchronous_commit', 'off', true), pg_notify(\(table.channel), '')")
    }

    /// Sends a hint soon; does not wait for it.
    func announce() {
        let begins = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    /// Sends a hint and waits until it is sent, or has failed.
    func announceNow() async {
        // The pool counts failures; to the caller that stores they mean nothing.
        _ = try? await pool.query(statement, deadline: Self.deadline)
    }

    private func run() async {
        while takeWanted() {
            await announceNow()
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func takeWanted() -> Bool {
        state.withLock { state in
            defer { state.isWanted = false }
            state.isRunning = state.isWanted
            return state.isWanted
        }
    }
}
