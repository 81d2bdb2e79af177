package import Foundation
package import Postgres

/// Names the table of a queue.
///
/// The table has these columns, and nothing in it is ever longer than a line: `id bigint` (primary key), `received_at
/// timestamptz` (since when there is something to do), `due_at timestamptz` (when it may be claimed; while it is leased,
/// when the lease ends), `attempts smallint default 0`, `lapses smallint default 0`, `lease_owner text`, `lease_token uuid`, `last_reason text`; and an
/// index on `(due_at, id)`. A row is queued by inserting the first three, in the transaction that makes it necessary.
package struct QueueTable: Sendable, Hashable {
    /// The table's name with its schema.
    package let name: String
    /// What logs and errors call its statements: `outbox` for `outbox.claim`.
    package let statements: String
    /// The channel on which it is announced that there is something to do. A hint only, sent beside the transaction that
    /// queued it (see ``Queue/announce()``), and workers poll all the same.
    package let channel: String
    /// Which of the rows that are due goes first.
    package let order: Order

    /// Which of the rows that are due goes first.
    package enum Order: String, Sendable, Hashable {
        /// The one that has been due for longest: nothing waits for ever, however much is put off and comes back.
        case dueFirst = "due_at, id"
        /// The one received first, however often it was put off: for work with a deadline that counts from there. It reads every
        /// row that is due, so it is for queues of some thousands.
        case oldestFirst = "received_at, id"
    }

    /// Literals alone, because they stand in statements as they are.
    package init(
        name: StaticString, statements: StaticString, channel: StaticString, order: Order = .dueFirst
    ) {
        self.name = "\(name)"
        self.statements = "\(statements)"
        self.channel = "\(channel)"
        self.order = order
    }

    /// Takes rows off the queue for good, in the transaction that settles them and before anything else that it writes.
    ///
    /// The fence: only rows that still carry the lease's token go. A worker that lost its lease gets nothing back and
    /// must leave those rows alone.
    /// - Returns: the ids that were held, and are now this transaction's to settle.
    package func acknowledge(
        _ ids: [Int64], token: UUID, _ session: borrowing PostgresSession
    ) throws -> Set<Int64> {
        let rows = try session.query(
            PostgresQuery(
                "\(statements).acknowledge",
                "delete from \(unescaped: name) where id = any(\(ids)) and lease_token = \(token) returning id"))
        return try Set(rows.map { try $0.decode(0, as: Int64.self) })
    }

    /// Lets a lease last so long from now on, in a transaction that records a part of the work, before anything else
    /// that it writes.
    ///
    /// The same fence as ``acknowledge(_:token:_:)``; until the transaction ends nobody else can claim the rows.
    /// - Returns: the ids that are still held.
    package func renew(
        _ ids: [Int64], token: UUID, for duration: Duration, _ session: borrowing PostgresSession
    ) throws -> Set<Int64> {
        let rows = try session.query(
            PostgresQuery(
                "\(statements).renew",
                """
                update \(unescaped: name)
                   set due_at = clock_timestamp() + make_interval(secs => \(duration / .seconds(1)))
                 where id = any(\(ids)) and lease_token = \(token)
                returning id
                """))
        return try Set(rows.map { try $0.decode(0, as: Int64.self) })
    }
}
