import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

extension EventStore {
    /// The positions between which events are kept.
    /// - Throws: `PostgresError`.
    package func bounds() async throws -> FeedBounds {
        let row = try await pool.query(
            PostgresQuery(
                "events.bounds",
                """
                select last_position as newest,
                       coalesce((select position - 1 - coalesce(cardinality(more), 0) from storehook.event_places
                                  order by position limit 1), last_position) as oldest
                  from storehook.event_feed
                """)
        ).one()
        return FeedBounds(oldest: try row.decode("oldest"), newest: try row.decode("newest"))
    }

    /// The events after a cursor, and the next cursor.
    /// - Parameters:
    ///   - cursor: nil for all that are kept.
    ///   - most: the most bytes of contents that are read, but at least one event.
    /// - Throws: ``FeedRefusal``; `PostgresError`.
    package func page(after cursor: Int64?, limit: Int, upTo most: Int = .max) async throws -> FeedPage {
        let bounds = try await bounds()
        let start = try bounds.start(cursor)
        guard start < bounds.newest else { return FeedPage(events: [], next: start, newest: bounds.newest) }
        let found = try await events(after: start, limit: limit, upTo: most)
        // A gap means dropped days: the page ends before it, and the next one reports it as gone.
        let events = Array(zip(found, (start + 1)...).prefix { $0.position == $1 }.map(\.0))
        guard let last = events.last else {
            if let first = found.first { throw FeedRefusal.gone(oldest: first.position - 1) }
            throw FeedRefusal.gone(oldest: try await self.bounds().oldest)
        }
        return FeedPage(events: events, next: last.position, newest: max(last.position, bounds.newest))
    }

    /// Likewise, of one account's events.
    /// - Throws: ``FeedRefusal``; `PostgresError`.
    package func page(after cursor: Int64?, limit: Int, of account: UniqueIdentifier) async throws -> FeedPage {
        let bounds = try await bounds()
        let start = try bounds.start(cursor)
        let events = try await read(
            "events.of_account",
            """
            select p.position, p.id, p.told_at
              from storehook.events e join storehook.event_positions p using (told_at, id)
             where e.token = \(UUID(account)) and p.position > \(start) and p.position <= \(bounds.newest)
             order by p.position limit \(Int64(limit))
            """)
        let next = events.count < limit ? bounds.newest : events.last?.position ?? start
        return FeedPage(events: events, next: next, newest: bounds.newest)
    }

    /// The last events, in order: of all accounts, or of one.
    /// - Parameters:
    ///   - environment: of an account, those in this one alone.
    ///   - instant: those that had been written by then; nil for all.
    /// - Throws: `PostgresError`.
    package func latest(
        _ limit: Int, of account: UniqueIdentifier? = nil, in environment: String? = nil, at instant: Timestamp? = nil
    ) async throws -> FeedPage {
        let bounds = try await bounds()
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        let events: [PlacedEvent]
        if let account {
            events = try await read(
                "events.latest_of_account",
                """
                select p.position, p.id, p.told_at
                  from storehook.events e join storehook.event_positions p using (told_at, id)
                 where e.token = \(UUID(account)) and p.position <= \(bounds.newest)
                   and (\(environment)::text is null or e.environment = \(environment))
                   and (\(then)::timestamptz is null or e.told_at <= \(then))
                 order by p.position desc limit \(Int64(limit))
                """)
        } else if let then {
            let last = try await pool.query(.lastPlace(by: then)).first?.decode(0, as: Int64.self) ?? 0
            events = try await self.events(after: max(bounds.oldest, last - Int64(limit)), limit: limit)
                .filter { $0.position <= last }
        } else {
            events = try await self.events(after: max(bounds.oldest, bounds.newest - Int64(limit)), limit: limit)
        }
        let next = max(bounds.newest, events.last?.position ?? 0)
        return FeedPage(events: events, next: next, newest: next)
    }

    /// The events after a position, in order: all that have been placed by then; none is placed among them later.
    /// - Parameter most: the most bytes of contents that are read, but at least one event.
    /// - Throws: `PostgresError`.
    package func events(after position: Int64, limit: Int, upTo most: Int = .max) async throws -> [PlacedEvent] {
        try await read(
            "events.after",
            """
            select position, id, told_at from storehook.event_positions
             where last > \(position) and position > \(position)
               -- No more places than have so many events, whichever way they are sorted.
               and last <= coalesce((select o.position from storehook.event_places o
                                      where o.position >= \(position + Int64(limit))
                                      order by o.position limit 1), 9223372036854775807)
             order by position limit \(Int64(limit))
            """,
            upTo: most)
    }

    /// One event by its number, placed or not (its position is not read); nil where none of it is kept.
    /// - Throws: `PostgresError`.
    package func event(_ id: Int64) async throws -> PlacedEvent? {
        try await read(
            "events.one", "select 0::bigint as position, id, told_at from storehook.events where id = \(id)"
        ).first
    }

    /// The events of some positions, in order.
    private func read(_ name: String, _ chosen: PostgresQuery, upTo most: Int = .max) async throws -> [PlacedEvent] {
        try await pool.query(
            PostgresQuery(
                name,
                """
                with chosen as (\(embedding: chosen))
                select position, id, kind, environment, bundle_id, token, account, original_transaction_id, sequence,
                       version, at, content
                  from (select c.position, e.id, e.kind, e.environment, e.bundle_id, e.token,
                               \(unescaped: PlacedEvent.accountColumn),
                               e.original_transaction_id, e.sequence, e.version, e.at, e.content,
                               sum(octet_length(e.content)) over (order by c.position rows unbounded preceding)
                                   - octet_length(e.content) as before
                          from chosen c
                          join storehook.events e on e.told_at = c.told_at and e.id = c.id
                          left join storehook.accounts a on a.token = e.token) read
                 where before < \(Int64(most))
                 order by position
                """)
        ).map { row in
            PlacedEvent(
                position: try row.decode("position"), id: try row.decode("id"), kind: try row.decode("kind"),
                environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                token: try row.decode("token", as: UUID?.self).map { UniqueIdentifier($0) },
                account: try row.decode("account"),
                originalTransactionID: try row.decode("original_transaction_id"),
                sequence: try row.decode("sequence"), version: try row.decode("version"),
                at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)), content: try row.decode("content"))
        }
    }
}

extension PostgresQuery {
    /// The place of the last event that had been written by an instant.
    fileprivate static func lastPlace(by instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "events.last_place",
            """
            select position from storehook.event_places where told_at <= \(instant)
             order by told_at desc, position desc limit 1
            """)
    }
}

extension FeedBounds {
    /// Where reading after a cursor begins.
    fileprivate func start(_ cursor: Int64?) throws(FeedRefusal) -> Int64 {
        guard let cursor else { return oldest }
        if cursor > newest { throw .ahead(newest: newest) }
        if cursor < oldest { throw .gone(oldest: oldest) }
        return cursor
    }
}
