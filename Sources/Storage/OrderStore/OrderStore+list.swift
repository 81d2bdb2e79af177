import AccountStore
package import Accounts
package import Base
import Postgres
import PurchaseStore

extension OrderStore {
    /// The parts of an order's ``ListCursor``.
    package static let cursorParts = 2
    /// How many orders a page has by default.
    package static let usualLimit = 25

    /// Whether a cursor is one of this list.
    package static func isCursor(_ cursor: ListCursor) -> Bool { OrderMark(cursor) != nil }

    /// Orders, the latest days first. Hidden ones are left out. Of an instant of the past, see ``OrdersThen``.
    /// - Parameters:
    ///   - catalog: the current one, for the names and tiers of products; nil before the first.
    ///   - cursor: the place behind which the page begins.
    ///   - limit: the most to return, 1 or more.
    ///   - bounds: the bounds that choose the way to read.
    /// - Throws: `ActRefusal` where the tier is unknown; `PostgresError`.
    package func list(
        _ filter: OrderFilter = .init(), under catalog: Catalog?, after cursor: ListCursor? = nil,
        limit: Int = OrderStore.usualLimit, within bounds: OrderBounds = .init()
    ) async throws -> ListPage<ListedOrder> {
        var plain = OrderQuestion(filter: filter, mark: cursor.flatMap { OrderMark($0) }, limit: limit + 1)
        plain.tierProducts = try filter.tier.map { try Self.products(ofTier: $0, catalog) }
        (plain.filter.search, plain.filter.tier) = (nil, nil)
        let ways = try await ways(of: filter.search, plain, catalog)
        if let instant = filter.at {
            let then = OrdersThen(at: instant, under: catalog)
            return try await pool.withTransaction(Self.reading) { session in
                try then.page(
                    ways.map { (question: $0.question, candidates: $0.candidates) }, limit: limit,
                    lookingThrough: bounds.then, session)
            }
        }
        return try await pool.withTransaction(Self.reading) { session in
            var marks: Set<OrderMark> = []
            for way in ways {
                marks.formUnion(try OrderPages.marks(way.question, among: way.candidates, bounds, session))
            }
            let found = marks.sorted().prefix(limit + 1)
            let orders = try Self.orders(found.prefix(limit).map(\.id), under: catalog, session)
            return ListPage(orders, next: found.count > limit ? orders.last?.mark.cursor : nil)
        }
    }

    /// One snapshot: an order that is hidden meanwhile leaves no hole.
    static let reading = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "orders")

    /// A way in which a text leads to orders.
    private struct Way {
        var question: OrderQuestion
        var candidates: OrderCandidates?
    }

    /// All ways in which the searched text leads to orders. The list has the orders of each.
    private func ways(of search: String?, _ plain: OrderQuestion, _ catalog: Catalog?) async throws -> [Way] {
        let account = plain.filter.account.map { OrderCandidates.account($0) }
        guard let search else { return [Way(question: plain, candidates: account)] }
        guard !search.utf8.contains(0) else { return [] }
        if let prefix = OrderNumberPrefix(search) {
            guard let days = prefix.days else { return [] }
            var question = plain
            question.isNumbered = true
            question.places = prefix.places
            question.restrict(to: days)
            return [
                Way(
                    question: question,
                    candidates: account ?? prefix.places.map { .numbered(days.lowerBound, $0) })
            ]
        }
        let reference = AccountReference(search)
        var token = UniqueIdentifier(search)?.accountToken
        if case .token(let named) = reference { token = named }
        let rule = try await AccountIDs(pool).standing().rule
        // Accounts that are found by something else than their ids, such as a name or a mail address, belong here.
        let accounts = Set([token, rule.flatMap { reference?.account(by: $0)?.token }].compactMap(\.self))
        var ways = [Way(question: plain, candidates: .id(search, accounts))]
        let products = Self.products(named: search, catalog)
        if !products.isEmpty {
            var question = plain
            question.namedProducts = products
            ways.append(Way(question: question, candidates: account))
        }
        return ways
    }

    private static func products(
        ofTier tier: String, _ catalog: Catalog?
    ) throws -> [SubscriptionFilter.AppProduct] {
        guard let catalog else { throw ActRefusal.noCatalog }
        guard catalog.tier(tier) != nil else {
            throw ActRefusal.unknownTier(tier, known: catalog.tiers.map(\.id))
        }
        return catalog.products.filter { $0.tier == tier }.map { .init(bundleID: $0.bundleID, productID: $0.productID) }
    }

    /// The products with an id that is the text, or with a name in any language that begins with it, in any case.
    private static func products(named text: String, _ catalog: Catalog?) -> [SubscriptionFilter.AppProduct] {
        let wanted = text.lowercased()
        return (catalog?.products ?? []).filter { product in
            product.productID.lowercased() == wanted || product.id.lowercased() == wanted
                || product.names?.texts.values.contains { $0.lowercased().hasPrefix(wanted) } ?? false
        }.map { .init(bundleID: $0.bundleID, productID: $0.productID) }
    }

    /// Orders by the numbers of their rows, in that order.
    static func orders(
        _ ids: [Int64], under catalog: Catalog?, _ session: borrowing PostgresSession
    ) throws -> [ListedOrder] {
        guard !ids.isEmpty else { return [] }
        return try session.query(.orders(ids)).map { try ListedOrder($0, under: catalog) }
    }
}

extension PostgresQuery {
    /// The totals of transactions `t` in one currency.
    static let totalColumns = """
        t.currency, coalesce(sum(t.price), 0)::bigint as paid, coalesce(sum(t.refunded), 0)::bigint as refunded,
               count(*) filter (where t.price is null) as unpriced,
               count(*) filter (where t.revoked_share is null or t.refunded is null) as unknown_refunds
        """

    fileprivate static func orders(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "orders.rows",
            """
            select to_char(o.day, 'YYYY-MM-DD') as day, o.id, storehook.order_number(o.day, o.number) as number,
                   o.environment, o.bundle_id, o.order_key, o.original_transaction_id, o.plan_type, o.status,
                   o.refunded_at, o.created_at, o.updated_at, t.transaction_id, t.product_id, t.starts_at, t.ends_at,
                   t.price, t.currency, t.storefront, m.currencies, m.paid, m.refunded, m.unpriced, m.unknown_refunds,
                   w.token, \(unescaped: AccountName.column(token: "w.token"))
              from unnest(\(ids)) with ordinality as k (id, place)
             cross join lateral (select * from storehook.booked_orders o where o.id = k.id offset 0) o
              left join lateral (
                   select * from storehook.booked_transactions t
                    where t.order_id = o.id and t.item = o.item offset 0) t on true
             cross join lateral (
                   select coalesce(array_agg(s.currency order by s.currency) filter (where s.currency is not null), '{}')
                              as currencies,
                          coalesce(array_agg(s.paid order by s.currency) filter (where s.currency is not null), '{}') as paid,
                          coalesce(array_agg(s.refunded order by s.currency) filter (where s.currency is not null), '{}')
                              as refunded,
                          coalesce(sum(s.unpriced), 0)::bigint as unpriced,
                          coalesce(sum(s.unknown_refunds), 0)::bigint as unknown_refunds
                     from (select \(unescaped: totalColumns)
                             from storehook.booked_transactions t
                            where t.order_id = o.id and not t.is_void
                            group by t.currency) s) m
             cross join lateral (select \(unescaped: OrderOwner.token(of: "o")) as token offset 0) w
              left join storehook.accounts a on a.token = w.token
             order by k.place
            """)
    }
}
