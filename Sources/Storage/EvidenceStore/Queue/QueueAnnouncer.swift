import Postgres
import Synchronization

/// Tells workers that there is something to do, beside the transaction that made it so: a hint, which may fail or come late
/// without any harm, as workers look by themselves now and then.
///
/// It may not be a part of that transaction. PostgreSQL keeps what is notified until every session that listens has read
/// it, and one that listens within a transaction reads nothing: when 8 GB have gathered, every transaction that notifies
/// fails (PostgreSQL's manual, NOTIFY).
///
/// Many hints are one: the first goes out at once, and what comes while it is on its way or shortly after goes together.
final class QueueAnnouncer: Sendable {
    private struct State {
        var isWanted = false
        var isRunning = false
    }

    private let pool: PostgresPool
    private let statement: PostgresQuery
    private let state = Mutex(State())

    /// The shortest time between two hints. Long against what one costs, short against what a worker's look at the queue
    /// and its batch take.
    private static let interval = Duration.milliseconds(25)
    private static let deadline = Duration.seconds(2)

    init(_ table: QueueTable, _ pool: PostgresPool) {
        self.pool = pool
        // Its commit waits neither for the disk nor for a standby: there is nothing in it to be kept.
        statement = PostgresQuery(
            "\(table.statements).wake",
            "select set_config('synchronous_commit', 'off', true), pg_notify(\(table.channel), '')")
    }

    /// Sends a hint soon, and does not wait for it.
    func announce() {
        let begins = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    /// Sends a hint and waits until it is out, or has failed.
    func announceNow() async {
        // The pool counts failures; to whoever stores they mean nothing.
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
