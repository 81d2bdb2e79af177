import EvidenceStore
package import Foundation
package import Postgres

extension Canaries {
    /// Apple is about to be asked.
    /// - Returns: whether the canary is still held.
    package func begin(_ canary: Canary) async throws -> Bool {
        try await queue.update(
            canary.claim,
            PostgresQuery(
                "canary.begin",
                "update storehook.canaries set asked_at = clock_timestamp() where id = \(canary.id)"))
    }

    /// Apple will post one.
    /// - Returns: whether the canary is still held.
    package func asked(_ canary: Canary, token: String) async throws -> Bool {
        try await queue.update(
            canary.claim,
            PostgresQuery(
                "canary.asked", "update storehook.canaries set test_token = \(token) where id = \(canary.id)"))
    }

    /// Apple says that it has posted one, or tried to.
    /// - Returns: whether the canary is still held.
    package func posted(
        _ canary: Canary, _ notificationUUID: UUID, at instant: PostgresTimestamp?, result: String?
    ) async throws -> Bool {
        try await queue.update(
            canary.claim,
            PostgresQuery(
                "canary.posted",
                """
                update storehook.canaries
                   set notification_uuid = \(notificationUUID), posted_at = \(instant),
                       post_result = \(result.map { String($0.prefix(100)) })
                 where id = \(canary.id)
                """))
    }

    /// How far a notification has come; nil while it is in no place that knows it by its UUID: on its way, or pending.
    package func arrival(of notificationUUID: UUID) async throws -> CanaryArrival? {
        let rows = try await pool.query(
            PostgresQuery(
                "canary.arrival",
                """
                select n.received_at, n.applied_at, n.source
                  from storehook.notifications n
                 where n.notification_uuid = \(notificationUUID)
                union all
                (select l.received_at, null, 'dead'
                   from storehook.dead_letters l
                  where l.notification_uuid = \(notificationUUID)
                  limit 1)
                limit 1
                """))
        guard let row = rows.first else { return nil }
        let place: CanaryArrival.Place =
            switch try row.decode("source", as: String.self) {
            case "dead": .dead
            case "webhook": .applied
            default: .recovered
            }
        return CanaryArrival(
            place: place, storedAt: try row.decode("received_at"), appliedAt: try row.decode("applied_at"))
    }

    /// Why a notification is a dead letter, as the code of its reason; nil where none is, or this user may not see it.
    package func deadReason(of notificationUUID: UUID) async throws -> String? {
        do {
            return try await pool.query(
                PostgresQuery(
                    "canary.dead_reason",
                    """
                    select l.reason
                      from storehook.dead_letters l
                     where l.notification_uuid = \(notificationUUID)
                     order by l.id desc
                     limit 1
                    """)
            ).first.map { try $0.decode(0) }
        } catch let error as PostgresError where error.sqlState == "42501" {
            return nil
        }
    }

    /// Where a notification waits that has arrived nowhere yet.
    /// - Parameter askedAt: when Apple was asked for it; nil where that is not known.
    package func waiting(_ notificationUUID: UUID, since askedAt: PostgresTimestamp?) async throws -> CanaryWaiting {
        do {
            let (post, isWhole) = try await Outbox(pool).waiting(notificationUUID, since: askedAt)
            return post.map { .stored($0) } ?? (isWhole ? .nowhere : .hidden)
        } catch let error as PostgresError where error.sqlState == "42501" {
            return .hidden
        }
    }

    /// Nothing more will be learned of a canary.
    /// - Parameter outcome: `applied`, `dead_letter`, `recovered`, `overdue`, or a code of why Apple posted none.
    /// - Returns: how long it took; nil if another process has taken it over.
    @discardableResult
    package func settle(
        _ canary: Canary, outcome: String, _ arrival: CanaryArrival? = nil
    ) async throws -> CanaryTimes? {
        try await queue.settling(canary.claim) { session in
            let row = try session.query(
                PostgresQuery(
                    "canary.settle",
                    """
                    update storehook.canaries
                       set outcome = \(String(outcome.prefix(100))), settled_at = now(),
                           stored_at = \(arrival?.storedAt), applied_at = \(arrival?.appliedAt)
                     where id = \(canary.id)
                    returning extract(epoch from posted_at - asked_at)::double precision as posted,
                              extract(epoch from stored_at - asked_at)::double precision as stored,
                              extract(epoch from applied_at - asked_at)::double precision as applied
                    """)
            ).first
            return CanaryTimes(
                posted: try row?.age("posted"), stored: try row?.age("stored"), applied: try row?.age("applied"))
        }
    }
}
