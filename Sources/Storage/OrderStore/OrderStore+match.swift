import Base
import Foundation
package import Postgres
import Subscriptions

extension OrderStore {
    /// Looks for the transactions that complete due attempts, and derives the status of these attempts. Runs before numbers are dealt. One worker
    /// at a time does this.
    ///
    /// It does not wait for transactions that book orders: attempts and orders that these have locked are left for the next round.
    /// - Parameter instant: the present instant: it decides which attempts are due, and which have been pending for too long. The database's clock
    ///   by default.
    /// - Returns: the number of pairs of account and product that were looked at.
    /// - Throws: `PostgresError`.
    package func matchAttempts(at instant: PostgresTimestamp? = nil, atMost limit: Int = 50) async throws -> Int {
        // Durable: people read numbers to each other.
        let options = TransactionOptions(
            idleTimeout: .seconds(10), isDurable: true, goesByIndexes: true, name: "orders.match_attempts")
        return try await pool.withTransaction(options) { session in
            guard try Self.takesTurn("attempts", session) != nil else { return 0 }
            var groups: [(token: UniqueIdentifier?, ids: [Int64])] = []
            var classes: Set<OrderClass> = []
            for row in try session.query(.dueAttempts(at: instant, limit)) {
                groups.append(
                    (UniqueIdentifier(accountToken: try row.decode("token", as: UUID?.self)), try row.decode("ids")))
                for bundleID in try row.decode("bundle_ids", as: [String].self) {
                    for status in OrderClass.attemptStatuses {
                        classes.insert(
                            .attempt(
                                environment: try row.decode("environment"), bundleID: bundleID,
                                productID: try row.decode("product_id"), status))
                    }
                }
            }
            // Before any lock that another transaction, which adds classes, may wait for.
            let numbers = try numbers(of: classes, session)
            var done = 0
            for group in groups {
                let rows = try session.query(.attempts(group.ids, at: instant))
                // Another transaction has locked one of them, or an erasure removed its account.
                guard rows.count == group.ids.count,
                    let clock = try rows.first?.decode("clock", as: PostgresTimestamp.self)
                else { continue }
                let attempts = try rows.map { try StoredAttempt($0) }
                if try settle(attempts, of: group.token, numbers, at: Timestamp(clock), session) { done += 1 }
            }
            return done
        }
    }

    /// - Returns: false where an order is locked; then nothing was written.
    private func settle(
        _ attempts: [StoredAttempt], of token: UniqueIdentifier?, _ numbers: [OrderClass: Int32], at instant: Timestamp,
        _ session: borrowing PostgresSession
    ) throws -> Bool {
        let matches = try self.matches(of: attempts, token, session)
        let changed = attempts.compactMap { attempt -> AttemptChange? in
            let match = matches[attempt.id]
            let status = match == nil ? attempt.status(at: instant) : .completed
            let kind = OrderClass.attempt(
                environment: attempt.environment, bundleID: attempt.matched.bundleID, productID: attempt.productID,
                status)
            let change = AttemptChange(
                attempt: attempt, match: match, status: status.rawValue, classID: match == nil ? numbers[kind] : nil,
                checkAt: attempt.nextCheck(after: instant).map(PostgresTimestamp.init))
            return attempt.isDue || change.isShown ? change : nil
        }
        let shown = changed.filter(\.isShown)
        let new = changed.filter(\.isNewMatch)
        let wanted = Set(shown.map(\.attempt.orderID) + new.compactMap { $0.match?.orderID })
        var orders: [Int64: NumberedRow] = [:]
        for row in try session.query(.numbered(wanted.sorted())) {
            orders[try row.decode("id")] = NumberedRow(
                day: try row.decode("day"), number: try row.decode("number"),
                createdAt: try row.decode("created_at"))
        }
        guard orders.count == wanted.count else { return false }
        let lost = changed.filter { $0.attempt.match != nil && $0.attempt.match != $0.match }
        if !lost.isEmpty { try session.query(.unmatch(lost.map(\.attempt.id))) }
        try session.query(.write(changed))
        // An order without a number takes the number of its first attempt.
        var given: [(from: Int64, to: Int64, row: NumberedRow)] = []
        for change in new.sorted(by: {
            ($0.attempt.matched.firstAt, $0.attempt.id) < ($1.attempt.matched.firstAt, $1.attempt.id)
        }) {
            guard let id = change.match?.orderID, orders[id]?.number == nil, let own = orders[change.attempt.orderID],
                own.number != nil
            else { continue }
            given.append((change.attempt.orderID, id, own))
            orders[id] = own
        }
        if !given.isEmpty {
            try session.query(.takeNumbers(given.map(\.from)))
            try session.query(.giveNumbers(given.map { ($0.to, $0.row) }))
        }
        if !shown.isEmpty { try session.query(.show(shown)) }
        return true
    }

    /// The transactions that complete an account's attempts to buy a product. An attempt keeps its transaction if that went to another account, or
    /// to none: moves change no order, and purchases of an erased account have none.
    private func matches(
        of attempts: [StoredAttempt], _ token: UniqueIdentifier?, _ session: borrowing PostgresSession
    ) throws -> [Int64: StoredAttempt.Match] {
        let standing = attempts.filter { $0.match != nil }
        guard let token else {
            return Dictionary(
                uniqueKeysWithValues: standing.compactMap { attempt in attempt.match.map { (attempt.id, $0) } })
        }
        var matches: [Int64: StoredAttempt.Match] = [:]
        if !standing.isEmpty {
            for row in try session.query(.keptMatches(standing.map(\.id), of: token)) {
                matches[try row.decode("id")] = .init(
                    orderID: try row.decode("matched_order_id"), item: try row.decode("matched_item"))
            }
        }
        let free = attempts.filter { matches[$0.id] == nil }
        guard !free.isEmpty else { return matches }
        let sales = try session.query(.sales(for: free, of: token)).map { row in
            AttemptMatching.Sale(
                orderID: try row.decode("order_id"), item: try row.decode("item"),
                bundleID: try row.decode("bundle_id"),
                at: Timestamp(try row.decode("starts_at", as: PostgresTimestamp.self)))
        }
        for (id, sale) in AttemptMatching.pairs(of: free.map(\.matched), sales) {
            matches[id] = .init(orderID: sale.orderID, item: sale.item)
        }
        return matches
    }
}

/// What becomes of an attempt.
private struct AttemptChange {
    let attempt: StoredAttempt
    let match: StoredAttempt.Match?
    let status: String
    let classID: Int32?
    let checkAt: PostgresTimestamp?

    /// Whether its own row of `booked_orders` changes.
    var isShown: Bool { attempt.match != match || attempt.status != status || attempt.classID != classID }
    var isNewMatch: Bool { match != nil && attempt.match != match }
}

/// The number of a row of `booked_orders`.
private struct NumberedRow {
    var day: String
    var number: Int32?
    var createdAt: PostgresTimestamp?
}

extension PostgresQuery {
    /// Attempts to look at, with all others of the same account, product and environment: all of these decide which transaction completes which
    /// attempt.
    fileprivate static func dueAttempts(at instant: PostgresTimestamp?, _ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.due_attempts",
            """
            with due as materialized (
                select id, token, product_id, environment from storehook.booked_attempts
                 where check_at <= coalesce(\(instant), now()) order by check_at limit \(Int64(limit))
            ), named as (
                select distinct token, product_id, environment from due where token is not null
            )
            select n.token, n.product_id, n.environment, a.ids, a.bundle_ids
              from named n
             cross join lateral (
                select array_agg(a.id order by a.id) as ids, array_agg(distinct a.bundle_id) as bundle_ids
                  from storehook.booked_attempts a
                 where (a.token, a.product_id, a.environment) = (n.token, n.product_id, n.environment)) a
            union all
            select null, a.product_id, a.environment, array[a.id], array[a.bundle_id]
              from due join storehook.booked_attempts a using (id) where due.token is null
            """
        ).keepingPlan()
    }

    fileprivate static func attempts(_ ids: [Int64], at instant: PostgresTimestamp?) -> PostgresQuery {
        PostgresQuery(
            "orders.attempts",
            """
            select a.id, a.order_id, a.bundle_id, a.product_id, a.environment, a.outcome, a.first_at, a.last_at, a.written_at,
                   a.matched_order_id, a.matched_item, coalesce(a.check_at <= coalesce(\(instant), now()), false) as is_due,
                   o.status, o.class_id, coalesce(\(instant), now()) as clock
              from storehook.booked_attempts a
              join storehook.booked_orders o on o.id = a.order_id
             where a.id = any(\(ids))
             order by a.first_at, a.id
               for no key update of a skip locked
            """)
    }

    /// The attempts with a transaction that is unchanged in the books, and that the account no longer has.
    fileprivate static func keptMatches(_ ids: [Int64], of token: UniqueIdentifier) -> PostgresQuery {
        PostgresQuery(
            "orders.kept_matches",
            """
            select a.id, a.matched_order_id, a.matched_item
              from storehook.booked_attempts a
              join storehook.booked_orders o on o.id = a.matched_order_id and o.class_id is not null
              join storehook.booked_transactions t on (t.order_id, t.item) = (a.matched_order_id, a.matched_item)
             where a.id = any(\(ids)) and not t.is_void and t.product_id = a.product_id
               and t.starts_at between a.first_at - make_interval(secs => \(Double(AttemptMatching.lead)))
                                   and a.last_at + make_interval(secs => case a.outcome when 'pending'
                                       then \(Double(AttemptMatching.Outcome.pending.patience))
                                       else \(Double(AttemptMatching.Outcome.failed.patience)) end)
               and (\(unescaped: OrderOwner.token(of: "o"))) is distinct from \(UUID(token))
            """)
    }

    /// The account's transactions that may complete one of the attempts, without those that complete an attempt of another account.
    fileprivate static func sales(for attempts: [StoredAttempt], of token: UniqueIdentifier) -> PostgresQuery {
        PostgresQuery(
            "orders.sales",
            """
            select t.order_id, t.item, o.bundle_id, t.starts_at
              from (\(candidates: .account(token))) k
             cross join lateral (
                select * from storehook.booked_orders o
                 where o.id = k.id and o.class_id is not null and o.environment = \(attempts.first?.environment) offset 0) o
             cross join lateral (
                select * from storehook.booked_transactions t
                 where t.order_id = k.id and t.product_id = \(attempts.first?.productID) and not t.is_void offset 0) t
             where exists (
                   select from unnest(
                          \(attempts.map { PostgresTimestamp($0.matched.firstAt.adding(seconds: -AttemptMatching.lead)) }),
                          \(attempts.map { PostgresTimestamp($0.matched.closesAt) })) as w (opens_at, closes_at)
                    where t.starts_at between w.opens_at and w.closes_at)
               and not exists (
                   select from storehook.booked_attempts a
                    where (a.matched_order_id, a.matched_item) = (t.order_id, t.item) and a.id <> all(\(attempts.map(\.id))))
            """)
    }

    fileprivate static func numbered(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.numbered",
            """
            select id, day::text as day, number, created_at from storehook.booked_orders
             where id = any(\(ids)) order by id for no key update skip locked
            """)
    }

    /// A transaction completes at most one attempt: before another attempt gets it, its present one loses it.
    fileprivate static func unmatch(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.unmatch",
            """
            update storehook.booked_attempts set matched_order_id = null, matched_item = null where id = any(\(ids))
            """)
    }

    fileprivate static func write(_ changes: [AttemptChange]) -> PostgresQuery {
        PostgresQuery(
            "orders.write_attempts",
            """
            update storehook.booked_attempts a
               set matched_order_id = c.order_id, matched_item = c.item, check_at = c.check_at
              from unnest(
                   \(changes.map(\.attempt.id)), \(changes.map(\.match?.orderID)), \(changes.map(\.match?.item)),
                   \(changes.map(\.checkAt))) as c (id, order_id, item, check_at)
             where a.id = c.id
            """)
    }

    fileprivate static func takeNumbers(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.take_numbers",
            "update storehook.booked_orders set number = null, created_at = null where id = any(\(ids))")
    }

    fileprivate static func giveNumbers(_ rows: [(id: Int64, row: NumberedRow)]) -> PostgresQuery {
        PostgresQuery(
            "orders.give_numbers",
            """
            update storehook.booked_orders o
               set day = n.day::date, number = n.number, created_at = n.created_at
              from unnest(
                   \(rows.map(\.id)), \(rows.map(\.row.day)), \(rows.map(\.row.number)), \(rows.map(\.row.createdAt)))
                   as n (id, day, number, created_at)
             where o.id = n.id
            """)
    }

    fileprivate static func show(_ changes: [AttemptChange]) -> PostgresQuery {
        PostgresQuery(
            "orders.show_attempts",
            """
            update storehook.booked_orders o
               set class_id = c.class_id, status = c.status, originally_at = c.first_at,
                   updated_at = greatest(o.updated_at, c.last_at)
              from unnest(
                   \(changes.map(\.attempt.orderID)), \(changes.map(\.classID)), \(changes.map(\.status)),
                   \(changes.map { PostgresTimestamp($0.attempt.matched.firstAt) }),
                   \(changes.map { PostgresTimestamp($0.attempt.matched.lastAt) }))
                   as c (id, class_id, status, first_at, last_at)
             where o.id = c.id
            """)
    }
}
