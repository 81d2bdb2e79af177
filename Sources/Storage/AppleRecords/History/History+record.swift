import Base
import EvidenceStore
package import Foundation
import Postgres
import Subscriptions

extension History {
    /// What recording a page came to.
    package struct Recorded: Sendable, Hashable {
        /// Which of its notifications were in no place, and were stored.
        package var recovered: [UUID]
        /// Whether the window is proven; nil while it is not at its end.
        package var isProven: Bool?
    }

    /// Records a page: what it lists and is in no place is stored with source `history`, and the window's position moves on;
    /// with the last page the window is done. All in one transaction, fenced.
    /// - Returns: nil where another process holds the window by now; then nothing was recorded.
    package func record(_ page: HistoryPage, of window: HistoryWindow) async throws -> Recorded? {
        let missing = try await missing(page.letters)
        // The window is not proven by what a server commits without the standby that it was to wait for.
        let recorded: Recorded? = try await queue.holding(
            window.claim, TransactionOptions(isDurable: true, name: "history.record")
        ) { session in
            let recovered = try store(missing, of: window, session)
            try session.query(.moveOn(window, page, recovered: recovered.count))
            guard page.next == nil else { return Recorded(recovered: recovered) }
            let row = try session.query(.close(window)).one()
            let isProven: Bool = try row.decode("is_proven")
            _ = try queue.acknowledge(window.claim, session)
            if let again: PostgresTimestamp = try row.decode("again_at") {
                try session.query(.queue(window, at: again))
            }
            if window.isCut { try session.query(.forget(before: window)) }
            return Recorded(recovered: recovered, isProven: isProven)
        }
        if recorded?.recovered.isEmpty == false { await outbox.queue.announceNow() }
        return recorded
    }

    /// Stores what is still missing. Two windows may list a notification that was signed where one ends and the other begins:
    /// its row in history_letters lets one of them store it.
    private func store(
        _ missing: [HistoryPage.Letter], of window: HistoryWindow, _ session: borrowing PostgresSession
    ) throws -> [UUID] {
        guard !missing.isEmpty else { return [] }
        let held = try Set(Self.held(missing.map(\.notificationUUID), session))
        let wanted = missing.filter { !held.contains($0.notificationUUID) }
        guard !wanted.isEmpty else { return [] }
        let fresh = try Set(
            session.query(
                PostgresQuery(
                    "history.note",
                    """
                    insert into storehook.history_letters (notification_uuid, window_id)
                    select uuid, \(window.id) from unnest(\(wanted.map(\.notificationUUID))) as wanted (uuid)
                     order by uuid
                        on conflict do nothing
                    returning notification_uuid
                    """)
            ).map { try $0.decode(0, as: UUID.self) })
        var seen: Set<UUID> = []
        let stored = wanted.filter { fresh.contains($0.notificationUUID) && seen.insert($0.notificationUUID).inserted }
        let ids = try outbox.store(stored.map { Evidence(.notification, from: .history, $0.bytes) }, session)
        try session.query(
            PostgresQuery(
                "history.note_places",
                """
                update storehook.history_letters l set outbox_id = stored.id
                  from unnest(\(stored.map(\.notificationUUID)), \(ids)) as stored (uuid, id)
                 where l.notification_uuid = stored.uuid
                """))
        return stored.map(\.notificationUUID)
    }
}

extension PostgresQuery {
    fileprivate static func moveOn(_ window: HistoryWindow, _ page: HistoryPage, recovered: Int) -> PostgresQuery {
        PostgresQuery(
            "history.move_on",
            """
            update storehook.history_windows
               set walk_token = \(page.next), walk_pages = walk_pages + 1,
                   walk_listed = walk_listed + \(page.letters.count + page.refused),
                   walk_refused = walk_refused + \(page.refused),
                   walk_reason = coalesce(\(page.refusedReason), walk_reason),
                   recovered = recovered + \(recovered)
             where id = \(window.id)
            """)
    }

    /// The window is done, and so far as it was asked: its beginning may have slipped out of Apple's reach since it was made.
    ///
    /// It is asked once more when its end and its first asking are a day past, because Apple's list may lag, however often it
    /// was asked before; and where it listed something that is not Apple's, in an hour.
    fileprivate static func close(_ window: HistoryWindow) -> PostgresQuery {
        PostgresQuery(
            "history.close",
            """
            with closed as (
                update storehook.history_windows w
                   set askings = least(askings + 1, 32000)::smallint, asked_at = now(),
                       first_asked_at = coalesce(first_asked_at, now()),
                       starts_at = greatest(starts_at, \(window.startsAt)),
                       listed = walk_listed, refused = walk_refused, refused_reason = walk_reason,
                       proven_at = case when walk_refused = 0 then coalesce(proven_at, now()) end,
                       walk_token = null, walk_pages = 0, walk_listed = 0, walk_refused = 0, walk_reason = null
                 where id = \(window.id)
                returning proven_at, greatest(ends_at, first_asked_at) + interval '1 day' as settles_at
            )
            select proven_at is not null as is_proven,
                   case when proven_at is null then now() + make_interval(secs => \(History.refusedAgain / .seconds(1)))
                        when now() < settles_at then settles_at end as again_at
              from closed
            """)
    }

    fileprivate static func queue(_ window: HistoryWindow, at instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "history.queue",
            """
            insert into storehook.history_queue (id, received_at, due_at)
            values (\(window.id), now(), \(instant))
            """)
    }

    /// What lies before a window that Apple's list has left in part lies beyond it altogether.
    fileprivate static func forget(before window: HistoryWindow) -> PostgresQuery {
        PostgresQuery(
            "history.forget",
            """
            delete from storehook.history_windows
             where bundle_id = \(window.scope.bundleID) and environment = \(window.scope.environment)
               and ends_at <= \(window.startsAt)
            """)
    }
}
