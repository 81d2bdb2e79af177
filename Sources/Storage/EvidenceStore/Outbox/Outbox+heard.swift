import AppStoreVerification
package import Base
package import Foundation
package import Postgres

/// A post that is stored and not settled yet.
package struct WaitingPost: Sendable, Hashable {
    /// When its bytes were stored.
    package var storedAt: PostgresTimestamp
    /// Why it was put off the last time; nil if it never was.
    package var lastReason: String?
    /// How many of the ``Outbox/mostCountedAhead`` rows before it are due.
    package var ahead: Int64
    /// Whether workers have applied any notification since it was stored.
    package var isAnyApplied: Bool

    /// A post.
    package init(
        storedAt: PostgresTimestamp, lastReason: String? = nil, ahead: Int64 = 0, isAnyApplied: Bool = false
    ) {
        self.storedAt = storedAt
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

    /// The post of a notification that no worker has settled, by what it says of itself, among the newest rows of the queue. Reads a
    /// bounded number of rows, however long the queue is.
    /// - Parameter since: when the notification was asked for; nil where that is not known.
    /// - Returns: the post, nil where none of these rows is it; and whether these rows hold all that were stored since.
    package func waiting(
        _ notificationUUID: UUID, since: PostgresTimestamp?
    ) async throws -> (post: WaitingPost?, isWhole: Bool) {
        let rows = try await pool.query(
            PostgresQuery(
                "outbox.newest_waiting",
                """
                select id, received_at, last_reason
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
            let (ahead, isAnyApplied) = try await surroundings(of: id, storedAt)
            let post = WaitingPost(
                storedAt: storedAt, lastReason: try row.decode("last_reason"), ahead: ahead,
                isAnyApplied: isAnyApplied)
            return (post, true)
        }
        guard rows.count == Self.newestRows, let last = rows.last else { return (nil, true) }
        let oldest = try last.decode("received_at", as: PostgresTimestamp.self)
        return (nil, since.map { oldest < $0 } ?? false)
    }

    /// What clients and operators hand in is applied without a worker, and shows of none.
    private func surroundings(
        of id: Int64, _ storedAt: PostgresTimestamp
    ) async throws -> (ahead: Int64, isAnyApplied: Bool) {
        let row = try await pool.query(
            PostgresQuery(
                "outbox.waiting_ahead",
                """
                select (select count(*)
                          from (select q.due_at from storehook.outbox_queue q
                                 where q.id < \(id)
                                 order by q.id desc limit \(Self.mostCountedAhead)) before
                         where before.due_at <= now()),
                       exists (select from storehook.notifications
                                where applied_at > \(storedAt) and source in ('webhook', 'history'))
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
