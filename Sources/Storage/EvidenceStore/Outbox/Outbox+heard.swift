import AppStoreVerification
package import Base
package import Foundation
package import Postgres

/// A post that is stored and not settled yet.
package struct WaitingPost: Sendable, Hashable {
    /// When its bytes were stored.
    package var storedAt: PostgresTimestamp
    /// How often a worker has claimed it.
    package var attempts: Int
    /// Why it was put off the last time; nil if it never was.
    package var lastReason: String?
    /// How many are due before it, as far as they are counted: ``Outbox/mostCountedAhead`` at most.
    package var ahead: Int64
    /// Whether any notification was applied within the last minute.
    package var isAnyApplied: Bool

    /// A post.
    package init(
        storedAt: PostgresTimestamp, attempts: Int = 0, lastReason: String? = nil, ahead: Int64 = 0,
        isAnyApplied: Bool = false
    ) {
        self.storedAt = storedAt
        self.attempts = attempts
        self.lastReason = lastReason
        self.ahead = ahead
        self.isAnyApplied = isAnyApplied
    }
}

extension Outbox {
    /// See ``WaitingPost/ahead``.
    package static let mostCountedAhead: Int64 = 1000
    /// Among so many of the newest rows of the queue a post is looked for.
    private static let newestRows = 200
    /// Among so many of the newest rows of the outbox Apple's last post is looked for.
    private static let newestPosts = 1000

    /// The post of a notification that no worker has settled, by what it says of itself; nil where none of the newest rows of the queue
    /// is it. Reads a bounded number of rows, however long the queue is.
    package func waiting(_ notificationUUID: UUID) async throws -> WaitingPost? {
        let rows = try await pool.query(
            PostgresQuery(
                "outbox.newest_waiting",
                """
                select id, received_at, attempts, last_reason
                  from storehook.outbox_queue
                 order by id desc
                 limit \(Self.newestRows)
                """))
        for row in rows {
            let id = try row.decode("id", as: Int64.self)
            let storedAt = try row.decode("received_at", as: PostgresTimestamp.self)
            guard case .success(let bytes)? = try await body(of: id, receivedAt: storedAt),
                UnverifiedSummary.read(bytes).notificationUUID.map(UUID.init) == notificationUUID
            else { continue }
            let (ahead, isAnyApplied) = try await surroundings(of: id)
            return WaitingPost(
                storedAt: storedAt, attempts: Int(try row.decode("attempts", as: Int16.self)),
                lastReason: try row.decode("last_reason"), ahead: ahead, isAnyApplied: isAnyApplied)
        }
        return nil
    }

    private func surroundings(of id: Int64) async throws -> (ahead: Int64, isAnyApplied: Bool) {
        let row = try await pool.query(
            PostgresQuery(
                "outbox.waiting_ahead",
                """
                select (select count(*)
                          from (select from storehook.outbox_queue q
                                 where q.id < \(id) and q.due_at <= now()
                                 order by q.id desc limit \(Self.mostCountedAhead)) ahead),
                       exists (select from storehook.notifications where applied_at > now() - interval '1 minute')
                """)
        ).one()
        return (try row.decode(0), try row.decode(1))
    }

    /// When the last notification of an app was stored that Apple had posted and that was applied; nil where none of the newest rows is
    /// one. Reads a bounded number of rows.
    package func lastHeard(of scope: AppEnvironment) async throws -> PostgresTimestamp? {
        try await pool.query(
            PostgresQuery(
                "outbox.last_heard",
                """
                select o.received_at
                  from (select id, received_at from storehook.outbox
                         order by received_at desc, id desc limit \(Self.newestPosts)) o
                  join storehook.notifications n on n.outbox_id = o.id
                 where n.environment = \(scope.environment) and n.bundle_id = \(scope.bundleID) and n.source = 'webhook'
                 order by o.received_at desc
                 limit 1
                """)
        ).first.map { try $0.decode(0) }
    }
}
