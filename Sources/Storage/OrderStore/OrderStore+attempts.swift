package import AccountStore
import Accounts
import Base
import Foundation
import Postgres
import Subscriptions

extension OrderStore {
    /// Books reports of attempts to buy, grouped into attempts. Each attempt has a row of `booked_orders`, which stays hidden until
    /// ``matchAttempts(at:atMost:)`` has looked for its transaction. One worker at a time does this.
    ///
    /// It does not wait for transactions that apply evidence or erase an account: reports that these have locked are booked in the next round.
    /// - Returns: the number of booked reports.
    /// - Throws: `PostgresError`; `UnreadableCatalog` where a newer release applied the catalog.
    package func bookAttempts(_ accounts: AccountStore, atMost limit: Int = 500) async throws -> Int {
        let options = TransactionOptions(
            idleTimeout: .seconds(10), goesByIndexes: true, name: "orders.book_attempts")
        return try await pool.withTransaction(options) { session in
            guard try Self.takesTurn("attempts", session) != nil else { return 0 }
            let catalog = try accounts.current(session)?.catalog
            let zone = catalog?.timeZone.identifier ?? "UTC"
            let reports = try session.query(.unbooked(zone: zone, limit)).map { try AttemptGrouping.Report($0) }
            guard !reports.isEmpty else { return 0 }
            let (stored, locked) = try self.stored(near: reports, session)
            let free = reports.filter { !locked.contains($0.key) }
            var grouping = AttemptGrouping(stored, counts: try counts(of: free, session))
            for report in free { grouping.add(report) }
            let changed = grouping.attempts.values.joined().filter(\.isChanged).sorted { $0.id < $1.id }
            let new = changed.filter { !$0.isStored }
            if !new.isEmpty {
                try session.query(
                    .add(new, apps: new.map { catalog?.app(ofProduct: $0.key.productID) ?? "" }))
            }
            let known = changed.filter(\.isStored)
            if !known.isEmpty { try session.query(.update(known)) }
            if !free.isEmpty { try session.query(.booked(free.map(\.id), surplus: grouping.surplus)) }
            return free.count
        }
    }

    /// The attempts that reports may belong to, locked; and the keys of attempts that other transactions have locked.
    private func stored(
        near reports: [AttemptGrouping.Report], _ session: borrowing PostgresSession
    ) throws -> (attempts: [AttemptGrouping.Attempt], locked: Set<AttemptKey>) {
        var keys: [Int64: AttemptKey] = [:]
        for row in try session.query(.near(reports)) { keys[try row.decode("id")] = try AttemptKey(row) }
        guard !keys.isEmpty else { return ([], []) }
        let attempts = try session.query(.hold(keys.keys.sorted())).map { try AttemptGrouping.Attempt($0) }
        let held = Set(attempts.map(\.id))
        return (attempts, Set(keys.filter { !held.contains($0.key) }.values))
    }

    private func counts(
        of reports: [AttemptGrouping.Report], _ session: borrowing PostgresSession
    ) throws -> [AttemptGrouping.AccountDay: Int64] {
        let days = Set(reports.map { AttemptGrouping.AccountDay(token: $0.key.token, day: $0.day) })
        var counts: [AttemptGrouping.AccountDay: Int64] = [:]
        for row in try session.query(.counts(Array(days))) {
            let day = AttemptGrouping.AccountDay(
                token: UniqueIdentifier(try row.decode("token", as: UUID.self)), day: try row.decode("day"))
            counts[day] = try row.decode("attempts")
        }
        return counts
    }
}

extension Catalog {
    /// The app with a product of Apple's; nil where no app has it, or several do.
    func app(ofProduct productID: String) -> String? {
        let apps = Set(products.filter { $0.productID == productID }.map(\.bundleID))
        return apps.count == 1 ? apps.first : nil
    }
}

extension PostgresQuery {
    /// Reports that are not booked yet, locked. An erasure deletes them before or after this, and also removes their attempts' texts.
    fileprivate static func unbooked(zone: String, _ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.unbooked",
            """
            select id, token, product_id, coalesce(environment, 'Production') as environment, outcome, reason, at,
                   to_char(at at time zone \(zone), 'YYYY-MM-DD') as day
              from storehook.purchase_attempts
             where kind = 'purchase' and not is_booked
             order by at, id
             limit \(Int64(limit))
               for update skip locked
            """)
    }

    fileprivate static func near(_ reports: [AttemptGrouping.Report]) -> PostgresQuery {
        PostgresQuery(
            "orders.near_attempts",
            """
            select distinct a.id, a.token, a.product_id, a.environment
              from unnest(
                   \(reports.map { UUID($0.key.token) }), \(reports.map(\.key.productID)),
                   \(reports.map(\.key.environment)), \(reports.map(\.at)))
                   as r (token, product_id, environment, at)
              join storehook.booked_attempts a
                   on (a.token, a.product_id, a.environment) = (r.token, r.product_id, r.environment)
                  and a.first_at between r.at - make_interval(secs => \(Double(AttemptMatching.span)))
                                     and r.at + make_interval(secs => \(Double(AttemptMatching.span)))
            """)
    }

    fileprivate static func hold(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.hold_attempts",
            """
            select id, token, product_id, environment, day::text as day, outcome, reason, reports, first_at, last_at, last_report
              from storehook.booked_attempts
             where id = any(\(ids)) and token is not null
             order by first_at, id
               for no key update skip locked
            """)
    }

    fileprivate static func counts(_ days: [AttemptGrouping.AccountDay]) -> PostgresQuery {
        PostgresQuery(
            "orders.count_attempts",
            """
            select a.token, a.day::text as day, count(*) as attempts
              from unnest(\(days.map { UUID($0.token) }), \(days.map(\.day))) as d (token, day)
              join storehook.booked_attempts a on a.token = d.token and a.day = d.day::date
             group by a.token, a.day
            """)
    }

    fileprivate static func add(_ attempts: [AttemptGrouping.Attempt], apps: [String]) -> PostgresQuery {
        PostgresQuery(
            "orders.add_attempts",
            """
            with new as materialized (
                select * from unnest(
                    \(attempts.map(\.id)), \(attempts.map { UUID($0.key.token) }), \(apps),
                    \(attempts.map(\.key.productID)), \(attempts.map(\.key.environment)), \(attempts.map(\.day)),
                    \(attempts.map(\.outcome.rawValue)), \(attempts.map(\.reason)), \(attempts.map(\.reports)),
                    \(attempts.map(\.firstAt)), \(attempts.map(\.lastAt)), \(attempts.map(\.lastReport)))
                    as new (id, token, bundle_id, product_id, environment, day, outcome, reason, reports, first_at, last_at,
                            last_report)
            ), orders as (
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, originally_at, day, plan_type, status, updated_at)
                select environment, bundle_id, 'attempt-' || id, first_at, day::date, 'unknown', outcome, last_at
                  from new order by id
                returning id, order_key
            )
            insert into storehook.booked_attempts
                   (id, order_id, token, bundle_id, product_id, environment, day, outcome, reason, reports, first_at, last_at,
                    last_report, written_at, check_at)
            select new.id, orders.id, token, bundle_id, product_id, environment, day::date, outcome, reason, reports,
                   first_at, last_at, last_report, now(), now()
              from new join orders on orders.order_key = 'attempt-' || new.id
            """)
    }

    fileprivate static func update(_ attempts: [AttemptGrouping.Attempt]) -> PostgresQuery {
        PostgresQuery(
            "orders.update_attempts",
            """
            update storehook.booked_attempts a
               set outcome = u.outcome, reason = u.reason, reports = u.reports, first_at = u.first_at, last_at = u.last_at,
                   last_report = u.last_report, written_at = now(), check_at = now()
              from unnest(
                   \(attempts.map(\.id)), \(attempts.map(\.outcome.rawValue)), \(attempts.map(\.reason)),
                   \(attempts.map(\.reports)), \(attempts.map(\.firstAt)), \(attempts.map(\.lastAt)),
                   \(attempts.map(\.lastReport)))
                   as u (id, outcome, reason, reports, first_at, last_at, last_report)
             where a.id = u.id
            """)
    }

    fileprivate static func booked(_ reports: [Int64], surplus: Set<Int64>) -> PostgresQuery {
        PostgresQuery(
            "orders.booked_attempts",
            """
            update storehook.purchase_attempts p
               set is_booked = true, is_surplus = b.is_surplus
              from unnest(\(reports), \(reports.map(surplus.contains))) as b (id, is_surplus)
             where p.id = b.id
            """)
    }
}
