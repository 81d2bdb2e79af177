package import Accounts
package import Base
import Postgres

extension OrderStore {
    /// The orders of a text, in any environment: by a whole number, an order's key, or a transaction, an order line or an original transaction of
    /// Apple's. Hidden orders are included as such. At most 100.
    /// - Parameters:
    ///   - catalog: names products; nil before the first.
    ///   - instant: as they stood then, without those that had not been heard of: see ``OrdersThen``. Nil for now.
    /// - Throws: `PostgresError`.
    package func show(
        _ text: String, under catalog: Catalog?, at instant: Timestamp? = nil
    ) async throws -> [ShownOrder] {
        guard let candidates = OrderCandidates(naming: text) else { return [] }
        let then = instant.map { OrdersThen(at: $0, under: catalog) }
        return try await pool.withTransaction(Self.reading) { session in
            let rows = try session.query(.named(candidates))
            let listed = try rows.filter { try $0.decode("is_listed") }.map { try $0.decode("id", as: Int64.self) }
            let found =
                if let then { try then.orders(listed, session) } else {
                    try Self.orders(listed, under: catalog, session)
                }
            let orders = Dictionary(found.map { ($0.mark.id, $0) }) { first, _ in first }
            return try rows.compactMap { row -> ShownOrder? in
                guard let order = orders[try row.decode("id", as: Int64.self)] else {
                    let wasNotThere = try then != nil && row.decode("is_listed", as: Bool.self)
                    return wasNotThere ? nil : .shared(try SharedOrder(row))
                }
                let lines = try session.query(.lines(of: order, by: then?.end)).map {
                    try OrderDetail.Line($0, of: order, under: catalog)
                }
                return .order(OrderDetail(order: order, lines: lines))
            }
        }
    }
}

extension OrderCandidates {
    /// Those that a text names exactly: a whole number, or an id of Apple's. Nil where it can be neither.
    init?(naming text: String) {
        guard !text.utf8.contains(0) else { return nil }
        guard let prefix = OrderNumberPrefix(text) else {
            self = .id(text, [])
            return
        }
        guard let (day, place) = prefix.whole else { return nil }
        self = .numbered(day, [place...place])
    }
}

extension PostgresQuery {
    static func named(_ candidates: OrderCandidates) -> PostgresQuery {
        PostgresQuery(
            "orders.named",
            """
            select o.id, o.class_id is not null as is_listed, storehook.order_number(o.day, o.number) as number,
                   o.environment, o.bundle_id, o.order_key
              from (select distinct coalesce(a.matched_order_id, k.id) as id
                      from (\(candidates: candidates)) k left join storehook.booked_attempts a on a.order_id = k.id) k
             cross join lateral (select * from storehook.booked_orders o where o.id = k.id offset 0) o
             order by o.day desc, o.id desc limit 100
            """)
    }

    /// - Parameter instant: those that had been heard of by then; nil for all.
    fileprivate static func lines(of order: ListedOrder, by instant: PostgresTimestamp?) -> PostgresQuery {
        PostgresQuery(
            "orders.lines",
            """
            select * from storehook.order_transactions t
             where t.environment = \(order.environment) and t.bundle_id = \(order.bundleID) and t.order_key = \(order.key)
               and (\(instant)::timestamptz is null or t.heard_at <= \(instant))
             order by t.at, t.item, t.type in ('refund', 'refund_reversed', 'revoke'), t.heard_at
            """)
    }
}

extension SharedOrder {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            number: try row.decode("number"), environment: try row.decode("environment"),
            bundleID: try row.decode("bundle_id"), key: try row.decode("order_key"))
    }
}

extension OrderDetail.Line {
    fileprivate init(_ row: PostgresRow, of order: ListedOrder, under catalog: Catalog?) throws {
        let productID: String? = try row.decode("product_id")
        self.init(
            type: try row.decode("type"), at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)),
            endsAt: try row.instant("ends_at"), item: try row.decode("item"),
            transactionID: try row.decode("transaction_id"), productID: productID,
            productName: catalog?.name(of: productID, order.bundleID), amount: try row.decode("amount"),
            currency: try row.decode("currency"), storefront: try row.decode("storefront"),
            quantity: try row.decode("quantity"), isTrial: try row.decode("is_trial"),
            isVoid: try row.decode("is_void"), isComputed: try row.decode("is_computed"),
            heardAt: Timestamp(try row.decode("heard_at", as: PostgresTimestamp.self)))
    }
}
