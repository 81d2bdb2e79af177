import Postgres

extension OrderStore {
    /// Makes orders show a transaction that has begun meanwhile: a renewal is charged up to a day ahead. Any number of workers do this.
    /// - Returns: the number of orders that show another one.
    /// - Throws: `PostgresError`.
    package func turn(atMost limit: Int = 500) async throws -> Int {
        // Classes are added in a transaction of their own: transactions that book add classes before they lock an order.
        let wanted = try await pool.withTransaction(TransactionOptions(goesByIndexes: true, name: "orders.turn")) {
            session in
            let due = try session.query(.due(limit, isLocking: false)).map { try OrderClass($0) }
            return try numbers(of: Set(due), session).count
        }
        guard wanted > 0 else { return 0 }
        let options = TransactionOptions(idleTimeout: .seconds(10), goesByIndexes: true, name: "orders.turn")
        return try await pool.withTransaction(options) { session in
            try session.query(.turn(limit)).count
        }
    }
}

extension PostgresQuery {
    /// Orders with a next transaction that has begun, each with the values to show.
    fileprivate static func due(_ limit: Int, isLocking: Bool) -> PostgresQuery {
        PostgresQuery(
            "orders.due",
            """
            with due as materialized (
                select * from storehook.booked_orders
                 where turns_at <= now() order by turns_at limit \(Int64(limit))
                   \(unescaped: isLocking ? "for no key update skip locked" : "")
            )
            select due.id, due.environment, due.bundle_id, due.plan_type, due.status, shown.item,
                   coalesce(shown.product_id, '') as product_id, coalesce(shown.currency, '') as currency,
                   coalesce(shown.storefront, '') as storefront, next.turns_at
              from due
             cross join lateral (
                select t.* from storehook.booked_transactions t
                 where t.order_id = due.id and not t.is_void and t.starts_at <= now()
                 order by t.starts_at desc, t.ends_at desc, t.transaction_id desc, t.item desc limit 1) shown
             cross join lateral (
                select min(t.starts_at) as turns_at from storehook.booked_transactions t
                 where t.order_id = due.id and not t.is_void and t.starts_at > now()) next
            """)
    }

    fileprivate static func turn(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "orders.turn",
            """
            with shown as (\(embedding: due(limit, isLocking: true)))
            update storehook.booked_orders o
               set item = shown.item, turns_at = shown.turns_at,
                   class_id = case when o.class_id is not null then c.id end
              from shown
              join storehook.order_classes c using (environment, bundle_id, product_id, plan_type, status, currency, storefront)
             where o.id = shown.id
            returning o.id
            """
        ).keepingPlan()
    }
}
