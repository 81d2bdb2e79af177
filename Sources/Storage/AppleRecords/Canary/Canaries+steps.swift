import EvidenceStore
package import Foundation
package import Postgres

extension Canaries {
    /// Apple is about to be asked.
    /// - Returns: whether the canary is still held.
    package func begin(_ canary: Canary) async throws -> Bool {
        try await change(
            canary,
            PostgresQuery(
                "canary.begin",
                "update storehook.canaries set asked_at = clock_timestamp() where id = \(canary.id)"))
    }

    /// Apple will post one.
    /// - Returns: whether the canary is still held.
    package func asked(_ canary: Canary, token: String) async throws -> Bool {
        try await change(
            canary,
            PostgresQuery(
                "canary.asked", "update storehook.canaries set test_token = \(token) where id = \(canary.id)"))
    }

    /// Apple says that it has posted one, or tried to.
    /// - Returns: whether the canary is still held.
    package func posted(
        _ canary: Canary, _ notificationUUID: UUID, at instant: PostgresTimestamp?, result: String?
    ) async throws -> Bool {
        try await change(
            canary,
            PostgresQuery(
                "canary.posted",
                """
                update storehook.canaries
                   set notification_uuid = \(notificationUUID), posted_at = \(instant),
                       post_result = \(result.map { String($0.prefix(100)) })
                 where id = \(canary.id)
                """))
    }

    private func change(_ canary: Canary, _ query: PostgresQuery) async throws -> Bool {
        try await pool.withTransaction { session in
            guard
                try !Self.table.renew([canary.id], token: canary.lease.token, for: canary.lease.duration, session)
                    .isEmpty
            else { return false }
            try session.query(query)
            return true
        }
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

    /// Nothing more will be learned of a canary.
    /// - Parameter outcome: `applied`, `dead_letter`, `recovered`, `overdue`, or a code of why Apple posted none.
    /// - Returns: how long it took; nil if somebody else has taken it over.
    @discardableResult
    package func settle(
        _ canary: Canary, outcome: String, _ arrival: CanaryArrival? = nil
    ) async throws -> CanaryTimes? {
        try await pool.withTransaction { session in
            guard try !Self.table.acknowledge([canary.id], token: canary.lease.token, session).isEmpty else {
                return nil
            }
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
            func seconds(_ name: String) throws -> Duration? {
                try row?.decode(name, as: Double?.self).map { .seconds(max(0, $0)) }
            }
            return CanaryTimes(
                posted: try seconds("posted"), stored: try seconds("stored"), applied: try seconds("applied"))
        }
    }
}
