package import Accounts
import Base
import Foundation
package import Postgres
import PurchaseStore
package import Subscriptions

extension OrderStore {
    /// The changes of one purchase in the books by a transaction.
    package struct Change: Sendable {
        /// The purchase; it is locked until the transaction ends.
        package var key: PurchaseKey
        /// What changes.
        package var booked: BookedChange
        /// When the evidence that changes it was stored.
        package var heardAt: PostgresTimestamp

        /// Memberwise.
        package init(_ key: PurchaseKey, _ booked: BookedChange, heardAt: PostgresTimestamp) {
            self.key = key
            self.booked = booked
            self.heardAt = heardAt
        }
    }

    /// Books what a transaction changes about purchases, in that transaction.
    /// - Parameters:
    ///   - catalog: the current one: its zone decides the days of orders, and its tiers decide what an upgrade is. Nil before the first.
    ///   - clock: the present instant: it decides which periods have begun.
    /// - Throws: `PostgresError`.
    package func book(
        _ changes: [Change], under catalog: Catalog?, at clock: PostgresTimestamp, _ session: borrowing PostgresSession
    ) throws {
        let lines = changes.flatMap { change in
            change.booked.orders.map { BookedLine(change, $0, catalog, at: clock) }
        }
        if !lines.isEmpty {
            let numbers = try numbers(of: Set(lines.map(\.shownClass)), session)
            var (ids, wereRefunded) = ([OrderPlace: Int64](), Set<OrderPlace>())
            for row in try session.query(
                .book(lines, numbers, zone: catalog?.timeZone.identifier ?? "UTC"))
            {
                let place = OrderPlace(
                    environment: try row.decode(1), bundleID: try row.decode(2), key: try row.decode(3))
                ids[place] = try row.decode(0)
                if try row.decode(4, as: String.self) != "completed" { wereRefunded.insert(place) }
            }
            let rows = lines.flatMap { line in ids[line.place].map { line.rows(of: $0) } ?? [] }
            if !rows.isEmpty { try session.query(.bookTransactions(rows)) }
            let refunds = rows.flatMap(\.refunds)
            if !refunds.isEmpty { try session.query(.bookRefunds(refunds)) }
            let stretches = rows.flatMap(\.stretches)
            if !stretches.isEmpty { try session.query(.bookStretches(stretches)) }
            let removed = lines.flatMap { line in ids[line.place].map { id in line.removed.map { (id, $0) } } ?? [] }
            if !removed.isEmpty {
                try session.query(.removeTransactions(removed))
                try session.query(.markChanged(removed.map(\.0)))
            }
            let items = lines.filter(\.hasRefunds).flatMap { line in
                ids[line.place].map { id in line.changed.map { (id, $0.item, Int16(clamping: $0.refunds.count)) } }
                    ?? []
            }
            if !items.isEmpty { try session.query(.trimRefunds(items)) }
            let stretched = lines.filter(\.hadStretches).flatMap { line in
                ids[line.place].map { id in
                    line.changed.map { (id, $0.item, Int16(clamping: $0.recurring.stretches.count)) }
                } ?? []
            }
            if !stretched.isEmpty { try session.query(.trimStretches(stretched)) }
            let concerned = lines.filter {
                $0.hasRefunds || !$0.removed.isEmpty || wereRefunded.contains($0.place)
            }
            if !concerned.isEmpty { try settle(concerned.compactMap { ids[$0.place] }, session) }
        }
        let gone = changes.flatMap { change in
            change.booked.gone.map { OrderPlace(change.key, $0) }
        }
        if !gone.isEmpty { try session.query(.hide(gone)) }
    }

    /// Derives the status of orders with refunds, or with reversals of refunds.
    private func settle(_ ids: [Int64], _ session: borrowing PostgresSession) throws {
        let rows = try session.query(.standing(ids)).map { row in
            (
                id: try row.decode("id", as: Int64.self), kind: try OrderClass(row),
                refundedAt: try row.decode("refunded_at", as: PostgresTimestamp?.self)
            )
        }
        guard !rows.isEmpty else { return }
        let numbers = try numbers(of: Set(rows.map(\.kind)), session)
        try session.query(
            PostgresQuery(
                "orders.settle",
                """
                update storehook.booked_orders o
                   set status = s.status, class_id = s.class_id, refunded_at = s.refunded_at
                  from unnest(\(rows.map(\.id)), \(rows.map(\.kind.status)), \(rows.map { numbers[$0.kind] }),
                              \(rows.map(\.refundedAt))) as s (id, status, class_id, refunded_at)
                 where o.id = s.id and o.class_id is not null
                   and (o.status, o.class_id, o.refunded_at) is distinct from (s.status, s.class_id, s.refunded_at)
                """
            ).keepingPlan())
    }
}

/// Where an order is found.
struct OrderPlace: Sendable, Hashable {
    var environment: String
    var bundleID: String
    var key: String

    init(environment: String, bundleID: String, key: String) {
        self.environment = environment
        self.bundleID = bundleID
        self.key = key
    }

    init(_ purchase: PurchaseKey, _ key: String) {
        self.init(environment: purchase.environment, bundleID: purchase.bundleID, key: key)
    }
}

/// An order as it is written.
private struct BookedLine {
    let purchase: PurchaseKey
    let order: BookedOrder
    let changed: [BookedTransaction]
    let ranks: [Int16?]
    let shown: BookedTransaction?
    let turnsAt: PostgresTimestamp?
    let heardAt: PostgresTimestamp
    let removed: [String]
    let hadStretches: Bool
    private let hadRefunds: Bool

    init(_ change: OrderStore.Change, _ order: BookedChange.Order, _ catalog: Catalog?, at clock: PostgresTimestamp) {
        let instant = Timestamp(clock)
        purchase = change.key
        self.order = order.order
        changed = order.changed
        ranks = order.changed.map { transaction in
            transaction.productID.flatMap { catalog?.rank(ofProduct: $0, of: change.key.bundleID) }
                .flatMap { Int16(exactly: $0) }
        }
        shown = order.order.shown(at: instant)
        turnsAt = order.order.turns(after: instant).map(PostgresTimestamp.init)
        heardAt = change.heardAt
        (removed, hadRefunds, hadStretches) = (order.removed, order.hadRefunds, order.hadStretches)
    }

    var place: OrderPlace { OrderPlace(purchase, order.key) }
    var shownClass: OrderClass { OrderClass(purchase, order.plan, "completed", shown) }
    /// Whether it has a refund, or the reversal of one.
    var hasRefunds: Bool { hadRefunds || changed.contains { !$0.refunds.isEmpty } }

    /// The changed transactions as they are written.
    func rows(of id: Int64) -> [BookedRow] {
        changed.indices.map { BookedRow(orderID: id, transaction: changed[$0], rank: ranks[$0], heardAt: heardAt) }
    }
}

/// A transaction as it is written.
private struct BookedRow {
    struct Refund {
        let orderID: Int64
        let item: String
        let place: Int16
        let refund: BookedRefund
        let heardAt: PostgresTimestamp
    }

    let orderID: Int64
    let transaction: BookedTransaction
    let rank: Int16?
    let heardAt: PostgresTimestamp

    var refunds: [Refund] {
        transaction.refunds.prefix(Int(Int16.max)).enumerated().map { place, refund in
            Refund(
                orderID: orderID, item: transaction.item, place: Int16(place), refund: refund, heardAt: heardAt)
        }
    }

    var stretches: [BookedStretch] {
        transaction.recurring.stretches.prefix(Int(Int16.max)).enumerated().map { place, stretch in
            BookedStretch(orderID: orderID, item: transaction.item, place: Int16(place), stretch: stretch)
        }
    }
}

extension PostgresQuery {
    /// Writes orders; returns their ids and status.
    ///
    /// A renewal changes no indexed column: so the order's row stays on its page (PostgreSQL, "Heap-Only Tuples").
    fileprivate static func book(
        _ lines: [BookedLine], _ numbers: [OrderClass: Int32], zone: String
    ) -> PostgresQuery {
        PostgresQuery(
            "orders.book",
            """
            insert into storehook.booked_orders as known
                   (environment, bundle_id, order_key, original_transaction_id, originally_at, day, class_id,
                    plan_type, item, turns_at, updated_at)
            select environment, bundle_id, order_key, original_transaction_id, originally_at,
                   (originally_at at time zone \(zone))::date, class_id, plan_type, item, turns_at, heard_at
              from unnest(
                   \(lines.map(\.purchase.environment)), \(lines.map(\.purchase.bundleID)),
                   \(lines.map(\.order.key)), \(lines.map(\.purchase.originalTransactionID)),
                   \(lines.map(\.order.plan.rawValue)), \(lines.map { PostgresTimestamp($0.order.originallyAt) }),
                   \(lines.map { numbers[$0.shownClass] }), \(lines.map(\.shown?.item)), \(lines.map(\.turnsAt)),
                   \(lines.map(\.heardAt)))
                   as line (environment, bundle_id, order_key, original_transaction_id, plan_type, originally_at,
                            class_id, item, turns_at, heard_at)
                on conflict (environment, bundle_id, order_key) do update
               set original_transaction_id = excluded.original_transaction_id,
                   originally_at = excluded.originally_at, plan_type = excluded.plan_type, item = excluded.item,
                   turns_at = excluded.turns_at, updated_at = greatest(known.updated_at, excluded.updated_at),
                   day = case when known.number is null then excluded.day else known.day end,
                   class_id = case when known.status = 'completed' or known.class_id is null then excluded.class_id
                                   else known.class_id end
            returning id, environment, bundle_id, order_key, status
            """
        ).keepingPlan()
    }

    fileprivate static func bookTransactions(_ rows: [BookedRow]) -> PostgresQuery {
        PostgresQuery(
            "orders.book_transactions",
            """
            insert into storehook.booked_transactions as known
                   (order_id, item, transaction_id, product_id, relation, follows, is_within, starts_at, ends_at,
                    price, currency, storefront, quantity, is_trial, is_void, revoked_share, refunded, refunded_at,
                    counts_until, end_reason, billed_quarters, first_ends_at, is_renewal_off, part_of,
                    tier_rank, heard_at, changed_at)
            select *, heard_at
              from unnest(
                   \(rows.map(\.orderID)), \(rows.map(\.transaction.item)), \(rows.map(\.transaction.transactionID)),
                   \(rows.map(\.transaction.productID)), \(rows.map(\.transaction.relation.rawValue)),
                   \(rows.map(\.transaction.follows)), \(rows.map(\.transaction.isWithin)),
                   \(rows.map { PostgresTimestamp($0.transaction.startsAt) }),
                   \(rows.map { $0.transaction.endsAt.map(PostgresTimestamp.init) }), \(rows.map(\.transaction.price)),
                   \(rows.map(\.transaction.currency)), \(rows.map(\.transaction.storefront)),
                   \(rows.map(\.transaction.quantity)), \(rows.map(\.transaction.isTrial)),
                   \(rows.map(\.transaction.isVoid)),
                   \(rows.map { $0.transaction.revokedShare.map(Int32.init(clamping:)) }),
                   \(rows.map(\.transaction.refunded)),
                   \(rows.map { $0.transaction.refundedAt.map(PostgresTimestamp.init) }),
                   \(rows.map { $0.transaction.recurring.countsUntil.map(PostgresTimestamp.init) }),
                   \(rows.map { $0.transaction.recurring.endReason?.rawValue }),
                   \(rows.map { $0.transaction.billedTime.map { Int16(clamping: $0.quarters) } }),
                   \(rows.map { $0.transaction.firstEndsAt.map(PostgresTimestamp.init) }),
                   \(rows.map { ($0.transaction.recurring.isRenewalOff ? true : nil) as Bool? }),
                   \(rows.map(\.transaction.recurring.partOf)), \(rows.map(\.rank)),
                   \(rows.map(\.heardAt)))
                   as t (order_id, item, transaction_id, product_id, relation, follows, is_within, starts_at, ends_at,
                         price, currency, storefront, quantity, is_trial, is_void, revoked_share, refunded, refunded_at,
                         counts_until, end_reason, billed_quarters, first_ends_at, is_renewal_off, part_of,
                         tier_rank, heard_at)
                on conflict (order_id, item) do update
               set transaction_id = excluded.transaction_id, product_id = excluded.product_id,
                   relation = excluded.relation, follows = excluded.follows, is_within = excluded.is_within,
                   starts_at = excluded.starts_at, ends_at = excluded.ends_at, price = excluded.price,
                   currency = excluded.currency, storefront = excluded.storefront, quantity = excluded.quantity,
                   is_trial = excluded.is_trial, is_void = excluded.is_void,
                   revoked_share = excluded.revoked_share, refunded = excluded.refunded,
                   refunded_at = excluded.refunded_at, counts_until = excluded.counts_until,
                   end_reason = excluded.end_reason, billed_quarters = excluded.billed_quarters,
                   first_ends_at = excluded.first_ends_at, is_renewal_off = excluded.is_renewal_off,
                   part_of = excluded.part_of, changed_at = greatest(known.changed_at, excluded.changed_at)
             where (known.transaction_id, known.product_id, known.relation, known.follows, known.is_within,
                    known.starts_at, known.ends_at, known.price, known.currency, known.storefront, known.quantity,
                    known.is_trial, known.is_void, known.revoked_share, known.refunded, known.refunded_at,
                    known.counts_until, known.end_reason, known.billed_quarters, known.first_ends_at,
                    known.is_renewal_off, known.part_of)
                   is distinct from
                   (excluded.transaction_id, excluded.product_id, excluded.relation, excluded.follows,
                    excluded.is_within, excluded.starts_at, excluded.ends_at, excluded.price, excluded.currency,
                    excluded.storefront, excluded.quantity, excluded.is_trial, excluded.is_void,
                    excluded.revoked_share, excluded.refunded, excluded.refunded_at, excluded.counts_until,
                    excluded.end_reason, excluded.billed_quarters, excluded.first_ends_at, excluded.is_renewal_off,
                    excluded.part_of)
            """
        ).keepingPlan()
    }

    fileprivate static func bookRefunds(_ refunds: [BookedRow.Refund]) -> PostgresQuery {
        PostgresQuery(
            "orders.book_refunds",
            """
            insert into storehook.booked_refunds as known
                   (order_id, item, place, type, at, amount, is_computed, heard_at)
            select * from unnest(
                   \(refunds.map(\.orderID)), \(refunds.map(\.item)), \(refunds.map(\.place)),
                   \(refunds.map(\.refund.kind.rawValue)), \(refunds.map { PostgresTimestamp($0.refund.at) }),
                   \(refunds.map(\.refund.amount)), \(refunds.map(\.refund.isComputed)), \(refunds.map(\.heardAt)))
                on conflict (order_id, item, place) do update
               set type = excluded.type, at = excluded.at, amount = excluded.amount, is_computed = excluded.is_computed
             where (known.type, known.at, known.amount, known.is_computed)
                   is distinct from (excluded.type, excluded.at, excluded.amount, excluded.is_computed)
            """
        ).keepingPlan()
    }

    /// Deletes surplus rows of transactions.
    fileprivate static func trimRefunds(_ items: [(order: Int64, item: String, count: Int16)]) -> PostgresQuery {
        PostgresQuery(
            "orders.trim_refunds",
            """
            delete from storehook.booked_refunds r
             using unnest(\(items.map(\.order)), \(items.map(\.item)), \(items.map(\.count))) as i (order_id, item, count)
             where (r.order_id, r.item) = (i.order_id, i.item) and r.place >= i.count
            """
        ).keepingPlan()
    }

    fileprivate static func removeTransactions(_ removed: [(order: Int64, item: String)]) -> PostgresQuery {
        PostgresQuery(
            "orders.remove_transactions",
            """
            with removed as (
                select * from unnest(\(removed.map(\.order)), \(removed.map(\.item))) as removed (order_id, item)
            ), refunds as (
                delete from storehook.booked_refunds r using removed
                 where (r.order_id, r.item) = (removed.order_id, removed.item)
            ), stretches as (
                delete from storehook.booked_stretches s using removed
                 where (s.order_id, s.item) = (removed.order_id, removed.item)
            )
            delete from storehook.booked_transactions t using removed
             where (t.order_id, t.item) = (removed.order_id, removed.item)
            """)
    }

    /// What changed is found by transactions: after one was removed, by the one that the order shows.
    fileprivate static func markChanged(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.mark_changed",
            """
            update storehook.booked_transactions t set changed_at = o.updated_at
              from storehook.booked_orders o
             where o.id = any(\(ids)) and (t.order_id, t.item) = (o.id, o.item) and t.changed_at < o.updated_at
            """)
    }

    /// The status of an order `o` by its stored transactions. It is refunded when each transaction with money is refunded in full.
    static let standing = """
        select \(standingColumns)
          from storehook.booked_transactions t
         where t.order_id = o.id and not t.is_void
        """

    /// The same by transactions `t` that are not void.
    static let standingColumns = """
        case when count(*) filter (where t.price is distinct from 0 and t.revoked_share = 100000) > 0
                     and bool_and(t.revoked_share is not distinct from 100000) filter (where t.price is distinct from 0)
                    then 'refunded'
                    when max(t.refunded_at) is not null then 'partially_refunded'
                    else 'completed' end as status,
               max(t.refunded_at) as refunded_at
        """

    fileprivate static func standing(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.standing",
            """
            select o.id, o.environment, o.bundle_id, o.plan_type, coalesce(shown.product_id, '') as product_id,
                   coalesce(shown.currency, '') as currency, coalesce(shown.storefront, '') as storefront, s.status,
                   s.refunded_at
              from storehook.booked_orders o
              left join storehook.booked_transactions shown on (shown.order_id, shown.item) = (o.id, o.item)
             cross join lateral (\(unescaped: standing)) s
             where o.id = any (\(ids))
            """
        ).keepingPlan()
    }

    /// Hides orders without transactions. Their numbers stay.
    static func hide(_ places: [OrderPlace]) -> PostgresQuery {
        PostgresQuery(
            "orders.hide",
            """
            with hidden as (
                update storehook.booked_orders o
                   set class_id = null, item = null, turns_at = null, status = 'completed', refunded_at = null
                  from unnest(\(places.map(\.environment)), \(places.map(\.bundleID)), \(places.map(\.key)))
                       as place (environment, bundle_id, order_key)
                 where (o.environment, o.bundle_id, o.order_key)
                       = (place.environment, place.bundle_id, place.order_key)
                returning o.id
            ), refunds as (
                delete from storehook.booked_refunds r using hidden where r.order_id = hidden.id
            ), stretches as (
                delete from storehook.booked_stretches s using hidden where s.order_id = hidden.id
            )
            delete from storehook.booked_transactions t using hidden where t.order_id = hidden.id
            """)
    }
}
