package import Foundation
package import Postgres
import Subscriptions

extension Outbox {
    /// The database's clock now, also late in a transaction.
    package static func clock(_ session: borrowing PostgresSession) throws -> PostgresTimestamp {
        try session.query(PostgresQuery("outbox.clock", "select clock_timestamp()")).one().decode(0)
    }

    /// The database's clock now.
    package func clock() async throws -> PostgresTimestamp {
        try await pool.query(PostgresQuery("outbox.now", "select clock_timestamp()")).one().decode(0)
    }

    /// Records rows that repeat a recorded notification, or a recorded record that came by itself, in the transaction
    /// that took them. Each is named by its notificationUUID or its digest.
    package static func recordDuplicates(
        _ duplicates: [(id: Int64, notificationUUID: UUID?, digest: [UInt8]?)], _ session: borrowing PostgresSession
    ) throws {
        guard !duplicates.isEmpty else { return }
        _ = try session.query(
            PostgresQuery(
                "outbox.duplicates",
                """
                insert into storehook.duplicates (outbox_id, notification_uuid, digest)
                select * from unnest(
                    \(duplicates.map(\.id)), \(duplicates.map(\.notificationUUID)), \(duplicates.map(\.digest)))
                """))
    }

    /// Makes rows dead letters, in the transaction that took them.
    package static func bury(_ letters: [DeadLetterDraft], _ session: borrowing PostgresSession) throws {
        guard !letters.isEmpty else { return }
        _ = try session.query(
            PostgresQuery(
                "outbox.bury",
                """
                insert into storehook.dead_letters
                       (outbox_id, received_at, notification_uuid, type, subtype, category, reason, message, attempts,
                        kind, source, bundle_id)
                select * from unnest(
                    \(letters.map(\.outboxID)), \(letters.map(\.receivedAt)), \(letters.map(\.notificationUUID)),
                    \(letters.map(\.type)), \(letters.map(\.subtype)), \(letters.map(\.category.rawValue)),
                    \(letters.map(\.reason.rawValue)), \(letters.map(\.message)), \(letters.map { Int16(clamping: $0.attempts) }),
                    \(letters.map(\.kind.rawValue)), \(letters.map(\.source.rawValue)), \(letters.map(\.bundleID)))
                """))
    }
}
