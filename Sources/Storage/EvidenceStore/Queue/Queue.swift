package import Postgres

/// Work that any number of workers share: rows of a narrow table, claimed, and settled by whoever holds them.
///
/// The only implementation there is; each queue is a ``QueueTable`` of its own. What the rows stand for, and what becomes
/// of those that cannot be done, is the owner's: the outbox keeps Apple's bytes and dead letters beside its queue.
///
///     inserted ──▶ ready ──claim──▶ leased ──acknowledge──▶ gone (with its effect, in one transaction;
///                   ▲ ▲               │ │ │                       buried: its effect is the owner's dead letter)
///                   │ └───release─────┘ │ └── lease runs out: ready again, claimed alone, the attempt counted
///                   │                   │
///                   └─due─ scheduled ◀──┴ reschedule (it was tried: the attempt counts)
///                                       └ postpone (it could not even be tried: the attempt does not count)
///
/// Only what is rescheduled, or lapses, is given up some day (``RetryPolicy``): what is postponed waits however long it takes.
///
/// Guarantees, each with a test:
///
/// - The attempt is counted and committed before the work begins, so that a row which ends its worker is counted as well.
/// - Rows whose lease ran out are claimed one at a time: what killed one worker takes no neighbour along again.
/// - Settling is fenced: only who names the current lease's token can acknowledge, reschedule, postpone or release, or renew it.
/// - A claim that fails after the rows were leased gives them back: see ``claim(_:for:from:joining:_:)``.
/// - The database's clock is the only one.
package struct Queue: Sendable {
    let pool: PostgresPool
    /// Where its rows are.
    package let table: QueueTable
    private let announcer: QueueAnnouncer

    /// The queue in a table.
    package init(_ table: QueueTable, _ pool: PostgresPool) {
        self.table = table
        self.pool = pool
        announcer = QueueAnnouncer(table, pool)
    }

    /// Lets workers know that something was queued and committed, soon and at no risk to it: see ``QueueTable/channel``.
    package func announce() { announcer.announce() }

    /// The same, and waits until it is done: for programs that are about to end. It cannot fail for the caller.
    package func announceNow() async { await announcer.announceNow() }
}
