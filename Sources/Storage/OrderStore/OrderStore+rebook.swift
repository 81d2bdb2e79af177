package import AccountStore
import Base
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

extension OrderStore {
    /// Derives the orders of purchases anew from their stored facts, and compares the stored rows with them.
    ///
    /// Evidence of its own stays: numbers and their days, ranks of tiers, and instants of arrival.
    /// - Parameters:
    ///   - keys: locked where `repair` is set.
    ///   - repair: write the differences.
    /// - Returns: the differences; with `repair`, those before it.
    /// - Throws: `PostgresError`; `UnreadableCatalog` where a newer release applied the catalog.
    @discardableResult
    package func rebook(
        _ keys: [PurchaseKey], repair: Bool, _ ledger: Ledger, _ accounts: AccountStore,
        _ session: borrowing PostgresSession
    ) throws -> [RowDifference] {
        guard !keys.isEmpty else { return [] }
        let clock = try session.query(PostgresQuery("orders.clock", "select now()")).one()
            .decode(0, as: PostgresTimestamp.self)
        var stored = try StoredOrder.all(of: keys, session)
        var differences: [RowDifference] = []
        var changes: [Change] = []
        for (key, orders, storedAt) in try ledger.orders(of: keys, session) {
            var change = BookedChange()
            for order in orders {
                let known = stored.removeValue(forKey: OrderPlace(key, order.key))
                let found = order.differences(from: known, of: key, at: Timestamp(clock))
                guard !found.isEmpty else { continue }
                differences += found
                let removed = (known?.transactions.keys).map { items in
                    items.filter { item in !order.transactions.contains { $0.item == item } }.sorted()
                }
                change.orders.append(
                    .init(order: order, changed: order.transactions, removed: removed ?? []))
            }
            if !change.isEmpty { changes.append(Change(key, change, heardAt: storedAt ?? clock)) }
        }
        // Orders that no fact makes any more.
        let gone = stored.filter { !$0.value.isHidden }.keys.sorted { $0.key < $1.key }
        differences += gone.map {
            RowDifference(
                table: "booked_orders", key: $0.words, column: "*", stored: "an order", derived: nil)
        }
        guard repair, !differences.isEmpty else { return differences }
        // As workers do before they book: figures of the account depend on all of its purchases.
        try accounts.hold(of: keys, session)
        if !changes.isEmpty {
            try book(changes, under: try accounts.current(session)?.catalog, at: clock, session)
        }
        if !gone.isEmpty { try session.query(.hide(gone)) }
        return differences
    }
}

/// An order as it is stored.
struct StoredOrder {
    var isHidden: Bool
    var plan: String
    var status: String
    var originallyAt: Timestamp
    var item: String?
    var turnsAt: Timestamp?
    var refundedAt: Timestamp?
    /// Its status by its stored transactions.
    var standing: (status: String, refundedAt: Timestamp?)
    var kind: OrderClass?
    var transactions: [String: [String: String?]] = [:]
    var refunds: [String: [BookedRefund]] = [:]

    /// All orders of purchases.
    static func all(
        of keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [OrderPlace: StoredOrder] {
        var orders: [OrderPlace: StoredOrder] = [:]
        var places: [Int64: OrderPlace] = [:]
        for row in try session.query(.orders(of: keys)) {
            let place = OrderPlace(try PurchaseKey(row), try row.decode("order_key"))
            places[try row.decode("id")] = place
            orders[place] = try StoredOrder(row)
        }
        let ids = places.keys.sorted()
        guard !ids.isEmpty else { return orders }
        for row in try session.query(.transactions(of: ids)) {
            guard let place = places[try row.decode("order_id")] else { continue }
            var cells: [String: String?] = [:]
            for (name, _) in BookedTransaction.columns { cells[name] = .some(try row.decode(name)) }
            orders[place]?.transactions[try row.decode("item")] = cells
        }
        for row in try session.query(.refunds(of: ids)) {
            guard let place = places[try row.decode("order_id")] else { continue }
            orders[place]?.refunds[try row.decode("item"), default: []].append(
                BookedRefund(
                    try row.decode("type", among: BookedRefund.Kind.self),
                    at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)),
                    amount: try row.decode("amount"), isComputed: try row.decode("is_computed")))
        }
        return orders
    }

    private init(_ row: PostgresRow) throws {
        isHidden = try row.decode("class_id", as: Int32?.self) == nil
        plan = try row.decode("plan_type")
        status = try row.decode("status")
        originallyAt = Timestamp(try row.decode("originally_at", as: PostgresTimestamp.self))
        item = try row.decode("item")
        turnsAt = try row.decode("turns_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        refundedAt = try row.decode("refunded_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        standing = (
            try row.decode("standing_status"),
            try row.decode("standing_refunded_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        )
        kind = isHidden ? nil : try OrderClass(row)
    }
}

extension OrderPlace {
    var words: String { "\(key) \(bundleID) \(environment)" }
}

extension BookedOrder {
    /// The cells of its stored rows that differ.
    fileprivate func differences(
        from stored: StoredOrder?, of purchase: PurchaseKey, at instant: Timestamp
    ) -> [RowDifference] {
        let place = OrderPlace(purchase, key)
        guard let stored, !stored.isHidden else {
            return [
                RowDifference(table: "booked_orders", key: place.words, column: "*", stored: nil, derived: "an order")
            ]
        }
        var differences: [RowDifference] = []
        func compare(_ table: String, _ key: String, _ column: String, _ was: String?, _ is: String?) {
            guard was != `is` else { return }
            differences.append(RowDifference(table: table, key: key, column: column, stored: was, derived: `is`))
        }
        compare("booked_orders", place.words, "plan_type", stored.plan, plan.rawValue)
        compare("booked_orders", place.words, "status", stored.status, stored.standing.status)
        compare("booked_orders", place.words, "originally_at", "\(stored.originallyAt)", "\(originallyAt)")
        compare(
            "booked_orders", place.words, "refunded_at", stored.refundedAt.map { "\($0)" },
            stored.standing.refundedAt.map { "\($0)" })
        // An order that is about to show its next transaction still shows the earlier one.
        if stored.turnsAt.map({ instant < $0 }) ?? true {
            let shown = shown(at: instant)
            compare("booked_orders", place.words, "item", stored.item, shown?.item)
            compare(
                "booked_orders", place.words, "turns_at", stored.turnsAt.map { "\($0)" },
                turns(after: instant).map { "\($0)" })
            compare(
                "booked_orders", place.words, "class_id", stored.kind.map { "\($0)" },
                "\(OrderClass(purchase, plan, stored.standing.status, shown))")
        }
        for transaction in transactions {
            let key = "\(place.words) \(transaction.item)"
            let cells = stored.transactions[transaction.item]
            for (name, value) in BookedTransaction.columns {
                compare("booked_transactions", key, name, cells?[name] ?? nil, value(transaction))
            }
            let refunds = stored.refunds[transaction.item] ?? []
            if refunds != transaction.refunds {
                compare("booked_refunds", key, "*", "\(refunds.map(\.words))", "\(transaction.refunds.map(\.words))")
            }
        }
        for item in stored.transactions.keys.sorted() where !transactions.contains(where: { $0.item == item }) {
            compare("booked_transactions", "\(place.words) \(item)", "*", "a transaction", nil)
        }
        return differences
    }
}

extension BookedRefund {
    fileprivate var words: String { "\(kind.rawValue) \(at) \(amount.map { "\($0)" } ?? "-") \(isComputed)" }
}

extension BookedTransaction {
    /// What is compared, as PostgreSQL writes it as text; instants in milliseconds. The rows of `booked_stretches` stand in one of them.
    fileprivate static let columns: [(name: String, value: @Sendable (BookedTransaction) -> String?)] = [
        ("transaction_id", { $0.transactionID }), ("product_id", { $0.productID }),
        ("relation", { $0.relation.rawValue }), ("follows", { $0.follows }), ("is_within", { "\($0.isWithin)" }),
        ("starts_at", { "\($0.startsAt.millisecondsSince1970)" }),
        ("ends_at", { $0.endsAt.map { "\($0.millisecondsSince1970)" } }), ("price", { $0.price.map { "\($0)" } }),
        ("currency", { $0.currency }), ("storefront", { $0.storefront }), ("quantity", { "\($0.quantity)" }),
        ("is_trial", { "\($0.isTrial)" }), ("is_void", { "\($0.isVoid)" }),
        ("revoked_share", { $0.revokedShare.map { "\($0)" } }), ("refunded", { $0.refunded.map { "\($0)" } }),
        ("refunded_at", { $0.refundedAt.map { "\($0.millisecondsSince1970)" } }),
        ("counts_until", { $0.recurring.countsUntil.map { "\($0.millisecondsSince1970)" } }),
        ("end_reason", { $0.recurring.endReason?.rawValue }),
        ("billed_quarters", { $0.billedTime.map { "\($0.quarters)" } }),
        ("first_ends_at", { $0.firstEndsAt.map { "\($0.millisecondsSince1970)" } }),
        ("is_renewal_off", { $0.recurring.isRenewalOff ? "true" : nil }), ("part_of", { $0.recurring.partOf }),
        (
            "stretches",
            { transaction in
                let stretches = transaction.recurring.stretches.map { stretch in
                    "\(stretch.from.millisecondsSince1970) \(stretch.until.millisecondsSince1970) \(stretch.endReason?.rawValue ?? "-")"
                }
                return stretches.isEmpty ? nil : stretches.joined(separator: ", ")
            }
        ),
    ]
}

extension PostgresQuery {
    fileprivate static func orders(of keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "orders.of_purchases",
            """
            select o.*, c.product_id, c.currency, c.storefront, s.status as standing_status,
                   s.refunded_at as standing_refunded_at
              from (
                select distinct o.id
                  from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                       as key (original_transaction_id, bundle_id, environment)
                 cross join lateral (
                    select o.id from storehook.booked_orders o
                     where (o.environment, o.bundle_id, o.order_key)
                           = (key.environment, key.bundle_id, key.original_transaction_id)
                    union all
                    select o.id from storehook.booked_orders o
                     where o.original_transaction_id = key.original_transaction_id
                       and o.order_key <> o.original_transaction_id
                       and (o.environment, o.bundle_id) = (key.environment, key.bundle_id)) o) found
              join storehook.booked_orders o using (id)
              left join storehook.order_classes c on c.id = o.class_id
             cross join lateral (\(unescaped: standing)) s
            """)
    }

    fileprivate static func transactions(of ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.stored_transactions",
            """
            select order_id, item, transaction_id, product_id, relation, follows, is_within::text as is_within,
                   (extract(epoch from starts_at) * 1000)::bigint::text as starts_at,
                   (extract(epoch from ends_at) * 1000)::bigint::text as ends_at, price::text as price, currency,
                   storefront, quantity::text as quantity, is_trial::text as is_trial, is_void::text as is_void,
                   revoked_share::text as revoked_share, refunded::text as refunded,
                   (extract(epoch from refunded_at) * 1000)::bigint::text as refunded_at,
                   (extract(epoch from counts_until) * 1000)::bigint::text as counts_until, end_reason,
                   billed_quarters::text as billed_quarters,
                   (extract(epoch from first_ends_at) * 1000)::bigint::text as first_ends_at,
                   is_renewal_off::text as is_renewal_off, part_of,
                   (select string_agg(
                               concat_ws(' ', (extract(epoch from s.starts_at) * 1000)::bigint,
                                   (extract(epoch from s.ends_at) * 1000)::bigint, coalesce(s.end_reason, '-')),
                               ', ' order by s.place)
                      from storehook.booked_stretches s where (s.order_id, s.item) = (t.order_id, t.item)) as stretches
              from storehook.booked_transactions t where order_id = any (\(ids))
            """)
    }

    fileprivate static func refunds(of ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.stored_refunds",
            """
            select order_id, item, type, at, amount, is_computed from storehook.booked_refunds
             where order_id = any (\(ids)) order by order_id, item, place
            """)
    }
}
