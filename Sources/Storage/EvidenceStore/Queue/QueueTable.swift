package import Foundation
package import Postgres

/// Names the table of a queue.
///
/// The table has these columns, none of them long, and an index on `(due_at, id)`:
/// - `id bigint`, the primary key;
/// - `received_at timestamptz`: when the work came up;
/// - `due_at timestamptz`: when it may be claimed, or, while it is leased, when the lease ends;
/// - `attempts smallint default 0`, `lapses smallint default 0`;
/// - `lease_owner text`, `lease_token uuid`, `last_reason text`.
///
/// A row is queued by inserting the first three, in the transaction that makes it necessary.
package struct QueueTable: Sendable, Hashable {
    /// The table's name with its schema.
    package let name: String
    /// What logs and errors call its statements: `outbox` for `outbox.claim`.
    package let statements: String
    /// The channel on which new work is announced. Only a hint, sent outside of the transaction that queued it (see
    /// ``Queue/announce()``); workers poll all the same.
    package let channel: String
    /// Which of the due rows goes first.
    package let order: Order

    /// Which of the due rows goes first.
    package enum Order: String, Sendable, Hashable {
        /// The one that has been due for longest: no row waits for ever, however many are put off and come back.
        case dueFirst = "due_at, id"
        /// The one received first, however often it was put off: for work whose deadline counts from there. A claim
        /// reads every due row, so it is for queues of some thousands.
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

    /// Takes rows off the queue for good, in the transaction that settles them and before its other writes.
    ///
    /// The fence: only rows that still carry the lease's token are deleted. A worker that lost its lease gets no ids
    /// back and must leave those rows alone.
    /// - Returns: the ids that were held; this transaction settles them.
    package func acknowledge(
        _ ids: [Int64], token: UUID, _ session: borrowing PostgresSession
    ) throws -> Set<Int64> {
        let rows = try session.query(
            PostgresQuery(
                "\(statements).acknowledge",
                "delete from \(unescaped: name) where id = any(\(ids)) and lease_token = \(token) returning id"))
        return try Set(rows.map { try $0.decode(0, as: Int64.self) })
    }

    /// Extends a lease to so long from now, in a transaction that records a part of the work, before anything else
    /// that it writes.
    ///
    /// Fenced like ``acknowledge(_:token:_:)``; until the transaction ends no other worker can claim the rows.
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
