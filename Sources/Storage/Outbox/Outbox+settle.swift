public import Foundation
public import Postgres

extension Outbox {
    /// Takes rows off the queue for good, as the first step of the transaction that settles them.
    ///
    /// The fence: only rows that still carry the lease's token go. A worker that lost its lease gets nothing back and
    /// must leave those rows alone.
    /// - Returns: the ids that were held, and are now this transaction's to settle.
    public static func acknowledge(_ ids: [Int64], token: UUID, _ session: borrowing PostgresSession) throws -> Set<
        Int64
    > {
        let rows = try session.query(
            PostgresQuery(
                "outbox.acknowledge",
                """
                delete from storehook.outbox_queue where id = any(\(ids)) and lease_token = \(token) returning id
                """))
        return try Set(rows.map { try $0.decode(0, as: Int64.self) })
    }

    /// The time now by the database's clock, also late in a transaction.
    public static func clock(_ session: borrowing PostgresSession) throws -> PostgresTimestamp {
        try session.query(PostgresQuery("outbox.clock", "select clock_timestamp()")).one().decode(0)
    }

    /// Records rows whose notification is recorded already, in the transaction that took them.
    public static func recordDuplicates(
        _ duplicates: [(id: Int64, notificationUUID: UUID)], _ session: borrowing PostgresSession
    ) throws {
        guard !duplicates.isEmpty else { return }
        _ = try session.query(
            PostgresQuery(
                "outbox.duplicates",
                """
                insert into storehook.duplicates (outbox_id, notification_uuid)
                select * from unnest(\(duplicates.map(\.id)), \(duplicates.map(\.notificationUUID)))
                """))
    }

    /// Buries rows as dead letters, in the transaction that took them.
    public static func bury(_ letters: [DeadLetterDraft], _ session: borrowing PostgresSession) throws {
        guard !letters.isEmpty else { return }
        _ = try session.query(
            PostgresQuery(
                "outbox.bury",
                """
                insert into storehook.dead_letters
                       (outbox_id, received_at, notification_uuid, type, subtype, category, reason, message, attempts)
                select * from unnest(
                    \(letters.map(\.outboxID)), \(letters.map(\.receivedAt)), \(letters.map(\.notificationUUID)),
                    \(letters.map(\.type)), \(letters.map(\.subtype)), \(letters.map(\.category.rawValue)),
                    \(letters.map(\.reason)), \(letters.map(\.message)), \(letters.map { Int16(clamping: $0.attempts) }))
                """))
    }

    /// Puts claimed rows off: each is due again after its delay. Fenced like ``acknowledge(_:token:_:)``.
    /// - Parameter delays: one for each id, in seconds from now.
    public func reschedule(_ ids: [Int64], by delays: [Double], reason: String, token: UUID) async throws {
        guard !ids.isEmpty else { return }
        _ = try await pool.query(
            PostgresQuery(
                "outbox.rescheduled",
                """
                update storehook.outbox_queue q
                   set due_at = now() + make_interval(secs => rescheduled.delay),
                       lease_owner = null, lease_token = null, last_reason = \(reason)
                  from unnest(\(ids), \(delays)) as rescheduled (id, delay)
                 where q.id = rescheduled.id and q.lease_token = \(token)
                """))
    }

    /// Gives back rows that were claimed and not begun, as if they never had been: due at once, the attempt uncounted.
    public func release(_ ids: [Int64], token: UUID) async throws {
        guard !ids.isEmpty else { return }
        _ = try await pool.query(
            PostgresQuery(
                "outbox.release",
                """
                update storehook.outbox_queue
                   set due_at = now(), attempts = attempts - 1, lease_owner = null, lease_token = null
                 where id = any(\(ids)) and lease_token = \(token)
                """))
        // Who else is waiting should not have to wait for its next poll.
        _ = try await pool.query(PostgresQuery("outbox.wake", "select pg_notify('storehook_outbox', '')"))
    }
}
