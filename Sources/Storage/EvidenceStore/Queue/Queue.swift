package import Postgres

/// Work shared by any number of workers: rows of a narrow table, claimed, and settled by the worker that holds them.
///
/// The only implementation; each queue is a ``QueueTable`` of its own. Its owner defines what the rows mean and where
/// rows go that cannot be processed: the outbox keeps Apple's bytes and dead letters beside its queue.
///
///     inserted ──▶ ready ──claim──▶ leased ──acknowledge──▶ gone (with its effect, in one transaction;
///                   ▲ ▲               │ │ │                       buried: its effect is the owner's dead letter)
///                   │ └───release─────┘ │ └── lease runs out: ready again, claimed alone, the attempt counted
///                   │                   │
///                   └─due─ scheduled ◀──┴ reschedule (it was tried: the attempt counts)
///                                       └ postpone (it could not even be tried: the attempt does not count)
///
/// Only rows that are rescheduled, or lapse, are given up some day (``ClaimPolicy``): a postponed row waits as long as
/// it takes.
///
/// Guarantees, each with a test:
///
/// - The attempt is counted and committed before the work begins, so that a row that kills its worker is counted.
/// - Rows whose lease ran out are claimed one at a time: one that killed a worker takes no others along again.
/// - Settling is fenced: acknowledge, reschedule, postpone, release and renew need the current lease's token.
/// - A claim that fails after the rows were leased releases them: see ``claim(_:for:from:joining:_:)``.
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

    /// Hints to workers that something was queued and committed, soon and at no risk to it: see
    /// ``QueueTable/channel``.
    package func announce() { announcer.announce() }

    /// Likewise, and waits until it is sent: for programs that are about to end. It cannot fail for the caller.
    package func announceNow() async { await announcer.announceNow() }
}
