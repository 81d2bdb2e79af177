import Base
package import Postgres
package import Subscriptions

extension Ledger {
    /// The orders of locked purchases, by all that is stored of them.
    ///
    /// What rows of earlier releases lack is taken from the latest record of their transaction.
    /// - Throws: `PostgresError`.
    package func orders(
        of keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [(purchase: PurchaseKey, orders: [BookedOrder], storedAt: PostgresTimestamp?)] {
        guard !keys.isEmpty else { return [] }
        var shared = SharedTransactions()
        for row in try session.query(.shared(keys)) { try shared.add(row) }
        var facts = [PurchaseFacts](repeating: PurchaseFacts(), count: keys.count)
        var stored = [PostgresTimestamp?](repeating: nil, count: keys.count)
        for row in try session.query(.storedFacts(keys)) {
            let place = Int(try row.decode(0, as: Int64.self)) - 1
            stored[place] = try row.decode(1)
            let statement = try PurchaseStatement(row, at: 2, of: keys[place])
            if !shared.isForeign(statement) { _ = statement.merge(into: &facts[place]) }
        }
        return keys.indices.map { place in
            let state = PurchaseState(facts[place], in: keys[place].environment, policy: policy)
            return (keys[place], state.orders(of: keys[place].originalTransactionID), stored[place])
        }
    }

    /// Completes the rows that a release before wrote with what the latest record of their transaction says of how it is billed. Few say
    /// anything of it.
    /// - Throws: `PostgresError`.
    package func completeBilling(of keys: [PurchaseKey], _ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "ledger.complete_billing",
                """
                update storehook.purchase_facts f
                   set billing_plan = coalesce(f.billing_plan, t.billing_plan_type),
                       up_front_period = coalesce(f.up_front_period,
                           case when t.offer_discount_type = 'PAY_UP_FRONT' then t.payload ->> 'offerPeriod' end)
                  from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                       as key (original_transaction_id, bundle_id, environment)
                  join storehook.transactions t using (original_transaction_id, bundle_id, environment)
                 where (f.original_transaction_id, f.bundle_id, f.environment)
                       = (key.original_transaction_id, key.bundle_id, key.environment)
                   and f.transaction_id = t.transaction_id
                   and (f.billing_plan is null and t.billing_plan_type is not null
                        or f.up_front_period is null and t.offer_discount_type = 'PAY_UP_FRONT'
                           and t.payload ->> 'offerPeriod' is not null)
                """))
    }
}

extension PostgresQuery {
    /// All facts of purchases, each with when the latest evidence of its purchase was stored.
    fileprivate static func storedFacts(_ keys: [PurchaseKey]) -> PostgresQuery {
        let facts = PurchaseStatement.columns.dropFirst(3).map { PurchaseStatement.expression(of: $0) }
            .joined(separator: ", ")
        return PostgresQuery(
            "ledger.stored_facts",
            """
            select key.n, coalesce(s.last_stored_at, o.last_stored_at), \(unescaped: facts)
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   with ordinality as key (original_transaction_id, bundle_id, environment, n)
              join storehook.purchase_facts f using (original_transaction_id, bundle_id, environment)
              left join storehook.transactions t
                   on t.transaction_id = f.transaction_id and t.bundle_id = f.bundle_id
                  and t.environment = f.environment
              left join storehook.subscriptions s
                   on s.original_transaction_id = f.original_transaction_id and s.bundle_id = f.bundle_id
                  and s.environment = f.environment
              left join storehook.one_time_purchases o
                   on o.original_transaction_id = f.original_transaction_id and o.bundle_id = f.bundle_id
                  and o.environment = f.environment
            """)
    }
}
