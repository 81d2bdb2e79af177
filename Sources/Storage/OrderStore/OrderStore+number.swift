package import AccountStore
import Accounts
import Foundation
import Postgres

extension OrderStore {
    /// Deals numbers to orders that have none, the earliest days first, in a transaction of its own: transactions that book
    /// orders do not wait for it, and it does not wait for them.
    ///
    /// One worker does this at a time. An order that another transaction has locked gets its number in the next round.
    /// - Returns: the number of orders that got one.
    /// - Throws: `PostgresError`; `UnreadableCatalog` where a newer release applied the catalog.
    package func deal(_ accounts: AccountStore, atMost limit: Int = 1000) async throws -> Int {
        // Durable: people read numbers to each other, and a lost number would be given to another order.
        let options = TransactionOptions(
            idleTimeout: .seconds(10), isDurable: true, goesByIndexes: true, name: "orders.deal")
        return try await pool.withTransaction(options) { session in
            guard try Self.takesTurn("number", session) != nil else { return 0 }
            let zone = try accounts.current(session)?.catalog.timeZone.identifier ?? "UTC"
            return try session.query(.deal(zone: zone, limit)).count
        }
    }

    /// Locks the row of a task; nil while another worker has the lock.
    static func takesTurn(_ task: String, _ session: borrowing PostgresSession) throws -> PostgresRow? {
        try session.query(
            PostgresQuery(
                "orders.take_turn",
                "select * from storehook.order_clock where task = \(task) and finished_at is null for update skip locked"
            ).keepingPlan()
        ).first
    }

    /// Whether the clock has anything to do.
    package func isDue() async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "orders.is_due",
                """
                select exists (select from storehook.booked_orders where number is null and class_id is not null)
                    or exists (select from storehook.booked_orders where turns_at <= now())
                    or exists (select from storehook.order_clock where task = 'rebook' and finished_at is null)
                    or exists (select from storehook.purchase_attempts where kind = 'purchase' and not is_booked)
                    or exists (select from storehook.purchase_attempts where kind = 'restore' and not is_booked)
                    or exists (select from storehook.booked_attempts where check_at <= now())
                """
            ).keepingPlan()
        ).one().decode(0)
    }
}

extension PostgresQuery {
    /// A day's last number is read and written together with the orders that get the next ones: no number is given twice, and none is skipped.
    fileprivate static func deal(zone: String, _ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.deal",
            """
            with picked as materialized (
                select id, (originally_at at time zone \(zone))::date as day
                  from storehook.booked_orders
                 where number is null and class_id is not null
                 order by day, id
                 limit \(Int64(limit))
                   for no key update skip locked
            ), ranked as materialized (
                select id, day, row_number() over (partition by day order by id)::integer as place from picked
            ), counted as (
                insert into storehook.order_days as known (day, last)
                select day, max(place) from ranked group by day order by day
                    on conflict (day) do update set last = known.last + excluded.last
                returning day, last
            ), totals as (
                select day, max(place) as dealt from ranked group by day
            )
            update storehook.booked_orders o
               set day = ranked.day, number = counted.last - totals.dealt + ranked.place, created_at = now()
              from ranked join counted using (day) join totals using (day)
             where o.id = ranked.id
            returning o.id
            """
        ).keepingPlan()
    }
}
