import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore

/// An event's delivery to an endpoint, for people.
package struct DeliveryRecord: Sendable, Hashable {
    /// How far it has come. The raw values are stored and sent, so they never change.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It waits for its turn, or to be tried again.
        case waiting
        /// The endpoint accepted it.
        case delivered
        /// It was given up.
        case dead
    }

    /// Its number.
    package var id: Int64
    /// The endpoint's number.
    package var endpointID: Int64
    /// The event's number.
    package var eventID: Int64
    /// The event's kind; nil where the event is no longer kept.
    package var kind: String?
    /// What the app's own tokens call the account.
    package var name: String?
    /// The account.
    package var token: UniqueIdentifier?
    /// The purchase that it is about.
    package var originalTransactionID: String?
    /// The event's app; nil where it is about an account, and where the event is no longer kept.
    package var bundleID: String?
    /// The event's environment; nil where the event is no longer kept.
    package var environment: String?
    /// The event's number in its order.
    package var sequence: Int64
    /// When the event was written.
    package var toldAt: PostgresTimestamp
    /// How far it has come.
    package var outcome: Outcome
    /// Calls so far; for one that waits behind others, those of the first.
    package var attempts: Int
    /// The last answer's status.
    package var status: Int?
    /// Why it was given up, or put off.
    package var reason: String?
    /// When it ended.
    package var endedAt: PostgresTimestamp?
    /// When it is tried next.
    package var dueAt: PostgresTimestamp?
    /// When a dead one was put back to be sent again.
    package var resentAt: PostgresTimestamp?
    /// Whether ``attempts`` are those of the instant that was asked for: a release before wrote no calls down.
    package var isDated = true

    /// The account's name, or its token.
    package var account: String? { name ?? token?.description }

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        endpointID = try row.decode("endpoint_id")
        eventID = try row.decode("event_id")
        kind = try row.decode("kind")
        name = try row.decode("account")
        token = try row.decode("token", as: UUID?.self).map { UniqueIdentifier($0) }
        originalTransactionID = try row.decode("original_transaction_id")
        bundleID = try row.decode("bundle_id")
        environment = try row.decode("environment")
        sequence = try row.decode("sequence")
        toldAt = try row.decode("told_at")
        outcome = try row.decode("outcome", among: Outcome.self)
        attempts = Int(try row.decode("attempts", as: Int32.self))
        status = try row.decode("status", as: Int16?.self).map { Int($0) }
        reason = try row.decode("reason")
        endedAt = try row.decode("ended_at")
        dueAt = try row.decode("due_at")
        resentAt = try row.decode("resent_at")
    }
}

/// A selection of events, or of their deliveries: those that meet all of its conditions.
package struct EventSelection: Sendable, Hashable {
    /// These events.
    package var eventIDs: [Int64]?
    /// Events of this account.
    package var token: UniqueIdentifier?
    /// Events written from this instant on.
    package var since: PostgresTimestamp?
    /// Events written before this instant.
    package var until: PostgresTimestamp?
    /// Deliveries to this endpoint; nil: to each one.
    package var endpointID: Int64?
    /// Deliveries of events that had been written by this instant, each as it stood then; nil for now.
    package var at: Timestamp?

    /// A selection; by default everything.
    package init(
        eventIDs: [Int64]? = nil, token: UniqueIdentifier? = nil, since: PostgresTimestamp? = nil,
        until: PostgresTimestamp? = nil, endpointID: Int64? = nil
    ) {
        self.eventIDs = eventIDs
        self.token = token
        self.since = since
        self.until = until
        self.endpointID = endpointID
    }
}

extension EndpointStore {
    /// The parts of a delivery's ``ListCursor``.
    package static let deliveryCursorParts = 1

    /// Deliveries, the latest first. A page of the past may be short, and even empty, and have a next one.
    /// - Parameters:
    ///   - apps: of events of these apps, by their bundle ids; nil for all, and those about accounts.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through where neither an event nor an account is selected; nil for all that there are. A page may then
    ///     be short, and even empty, and have a next one.
    /// - Throws: `PostgresError`.
    package func deliveries(
        _ selection: EventSelection, outcome: DeliveryRecord.Outcome? = nil, of apps: [String]? = nil,
        after cursor: ListCursor? = nil, limit: Int, lookingThrough most: Int? = nil
    ) async throws -> ListPage<DeliveryRecord> {
        let events = try await eventIDs(selection)
        let given = cursor.flatMap { Int64($0.parts[0]) }
        let then = selection.at.map { PostgresTimestamp.end(of: $0) }
        // An event has its place in the order of events, and so its deliveries, some seconds after it at most: but for an endpoint that was away,
        // which is dealt them later.
        let place = try await pool.place(
            behind: then, in: "storehook.deliveries", by: "told_at", slack: .seconds(10))
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "delivery.list")
        let page = try await pool.withTransaction(options) { session -> ListPage<DeliveryRecord> in
            var last: Int64
            if let given {
                last = max(given, 0)
            } else {
                guard let latest = try session.query(.latestDelivery).one().decode(0, as: Int64?.self) else {
                    return ListPage()
                }
                last = latest + 1
            }
            last = min(last, place)
            // What waits and what ended have their numbers from one sequence.
            let floor = events == nil ? most.map { last - Int64($0) } : nil
            let rows = try session.query(
                .deliveries(selection, events: events, outcome, of: apps, before: last, from: floor, limit: limit + 1))
            let found = try rows.prefix(limit).map { try DeliveryRecord($0) }
            if rows.count > limit { return ListPage(found, next: found.last.map { ListCursor(behind: ["\($0.id)"]) }) }
            guard let floor,
                let next = try session.query(.lastDelivery(before: floor)).one().decode(0, as: Int64?.self)
            else { return ListPage(found) }
            // Old ones were deleted, and one that waits for long may be far behind them.
            return ListPage(found, next: ListCursor(behind: ["\(next + 1)"]), lookedThrough: most)
        }
        guard let then else { return page }
        let found = try await standing(of: page.elements, at: then)
        return ListPage(found, next: page.next, lookedThrough: page.lookedThrough)
    }

    /// A delivery by its number; nil where there is none.
    /// - Parameters:
    ///   - apps: of an event of these apps, by their bundle ids; nil for any.
    ///   - instant: as it stood then, if it was there; nil for now.
    package func delivery(
        _ id: Int64, of apps: [String]? = nil, at instant: Timestamp? = nil
    ) async throws -> DeliveryRecord? {
        guard id < .max else { return nil }
        let found = try await pool.query(
            .deliveries(EventSelection(), events: nil, nil, of: apps, before: id + 1, from: id, limit: 1)
        ).map { try DeliveryRecord($0) }
        guard let instant else { return found.first }
        return try await standing(of: found, at: PostgresTimestamp.end(of: instant)).first
    }

    /// The given events, or an account's; nil where neither is selected.
    private func eventIDs(_ selection: EventSelection) async throws -> [Int64]? {
        guard let token = selection.token else { return selection.eventIDs }
        let ids = try await pool.query(
            PostgresQuery(
                "delivery.events_of_account",
                """
                select id from storehook.events
                 where token = \(UUID(token)) order by sequence desc limit 10000
                """)
        ).map { try $0.decode(0, as: Int64.self) }
        return selection.eventIDs.map { wanted in ids.filter(wanted.contains) } ?? ids
    }
}

extension PostgresQuery {
    fileprivate static let latestDelivery = PostgresQuery(
        "delivery.latest",
        """
        select greatest((select max(id) from storehook.deliveries), (select max(id) from storehook.deliveries_pending))
        """)

    fileprivate static func lastDelivery(before id: Int64) -> PostgresQuery {
        PostgresQuery(
            "delivery.last_before",
            """
            select greatest((select max(id) from storehook.deliveries where id < \(id)),
                            (select max(id) from storehook.deliveries_pending where id < \(id)))
            """)
    }

    /// What ended and what waits. Of some events it is found by these: the latest deliveries of all are not gone through for it, however much
    /// the planner thinks that they are among them.
    private static func everything(of events: [Int64]?) -> PostgresQuery {
        guard let events else {
            return """
                select \(unescaped: endedColumns) from storehook.deliveries d
                 union all
                select \(unescaped: waitingColumns) from storehook.deliveries_pending p
                  left join storehook.delivery_queue q on q.id = p.lane_id
                """
        }
        return """
            (select \(unescaped: endedColumns) from storehook.deliveries d where d.event_id = any (\(events)) offset 0)
             union all
            (select \(unescaped: waitingColumns) from storehook.deliveries_pending p
               left join storehook.delivery_queue q on q.id = p.lane_id
              where p.event_id = any (\(events)) offset 0)
            """
    }

    private static let endedColumns = """
        d.id, d.endpoint_id, d.event_id, d.told_at, d.sequence, d.outcome, d.attempts, d.status, d.reason, d.ended_at,
        null::timestamptz as due_at, d.resent_at
        """
    private static let waitingColumns = """
        p.id, p.endpoint_id, p.event_id, p.told_at, p.sequence, 'waiting' as outcome, coalesce(q.attempts, 0) as attempts,
        null as status, q.last_reason as reason, null as ended_at, q.due_at, null as resent_at
        """

    /// - Parameters:
    ///   - last: a number; those below it are read.
    ///   - first: the least number that is read.
    fileprivate static func deliveries(
        _ selection: EventSelection, events: [Int64]?, _ outcome: DeliveryRecord.Outcome?, of apps: [String]?,
        before last: Int64, from first: Int64?, limit: Int
    ) -> PostgresQuery {
        let then = selection.at.map { PostgresTimestamp.end(of: $0) }
        return PostgresQuery(
            "delivery.list",
            """
            select x.*, e.kind, e.token, e.bundle_id, e.environment, \(unescaped: PlacedEvent.accountColumn),
                   e.original_transaction_id
              from (\(embedding: everything(of: events))) x
              left join storehook.events e on e.told_at = x.told_at and e.id = x.event_id
              left join storehook.accounts a on a.token = e.token
             where x.id < \(last) and (\(first)::bigint is null or x.id >= \(first))
               and (\(selection.endpointID)::bigint is null or x.endpoint_id = \(selection.endpointID))
               and (\(selection.since)::timestamptz is null or x.told_at >= \(selection.since))
               and (\(selection.until)::timestamptz is null or x.told_at < \(selection.until))
               and (\(then)::timestamptz is null or x.told_at <= \(then))
               and (\(outcome?.rawValue)::text is null or \(outcome?.rawValue) = case
                    when \(then)::timestamptz is null or x.ended_at <= \(then) then x.outcome else 'waiting' end)
               and (\(apps)::text[] is null or e.bundle_id = any (\(apps)))
             order by x.id desc
             limit \(Int64(limit))
            """)
    }
}
