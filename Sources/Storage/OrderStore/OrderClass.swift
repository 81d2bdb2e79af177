import Postgres
import Subscriptions
import Synchronization

/// The values that lists filter orders by, as one row of `storehook.order_classes`.
struct OrderClass: Sendable, Hashable {
    var environment: String
    var bundleID: String
    /// Empty where no record states it; so are ``currency`` and ``storefront``.
    var productID: String
    var plan: String
    var status: String
    var currency: String
    var storefront: String

    /// One without currency and storefront.
    init(environment: String, bundleID: String, productID: String, plan: String, status: String) {
        (self.environment, self.bundleID, self.productID) = (environment, bundleID, productID)
        (self.plan, self.status) = (plan, status)
        (currency, storefront) = ("", "")
    }

    init(_ key: PurchaseKey, _ plan: BookedOrder.Plan, _ status: String, _ shown: BookedTransaction?) {
        (environment, bundleID) = (key.environment, key.bundleID)
        productID = shown?.productID ?? ""
        self.plan = plan.rawValue
        self.status = status
        currency = shown?.currency ?? ""
        storefront = shown?.storefront ?? ""
    }

    init(_ row: PostgresRow) throws {
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        productID = try row.decode("product_id")
        plan = try row.decode("plan_type")
        status = try row.decode("status")
        currency = try row.decode("currency")
        storefront = try row.decode("storefront")
    }
}

extension OrderClass: Comparable {
    static func < (a: OrderClass, b: OrderClass) -> Bool { a.parts.lexicographicallyPrecedes(b.parts) }
    private var parts: [String] { [environment, bundleID, productID, plan, status, currency, storefront] }
}

extension OrderStore {
    /// More classes than any operator's products, countries and currencies make. Beyond so many, they are read again.
    private static let mostKnown = 50_000

    /// The numbers of classes. Missing ones are added, always in the same order.
    ///
    /// Two transactions that add classes never wait for each other in a cycle: classes are the last rows but one that a transaction takes
    /// (products that customers hold come after them).
    func numbers(
        of wanted: Set<OrderClass>, _ session: borrowing PostgresSession
    ) throws -> [OrderClass: Int32] {
        var numbers = try stillKnown(wanted, session)
        // A class that another transaction adds at the same moment is found once that one has committed.
        while true {
            let missing = wanted.filter { numbers[$0] == nil }.sorted()
            guard !missing.isEmpty else { return numbers }
            var found: [OrderClass: Int32] = [:]
            for row in try session.query(.classes(missing)) {
                let kind = try OrderClass(row)
                numbers[kind] = try row.decode("id")
                // The classes that this transaction added may be rolled back.
                if try !row.decode("is_new", as: Bool.self) { found[kind] = numbers[kind] }
            }
            classes.withLock { known in
                if known.count + found.count > Self.mostKnown { known.removeAll() }
                known.merge(found) { first, _ in first }
            }
        }
    }

    /// The known numbers that are still those of their classes. After a backup was restored, or a standby promoted, these numbers may have other
    /// classes, or none.
    private func stillKnown(
        _ wanted: Set<OrderClass>, _ session: borrowing PostgresSession
    ) throws -> [OrderClass: Int32] {
        let known = classes.withLock { known in
            wanted.reduce(into: [OrderClass: Int32]()) { $0[$1] = known[$1] }
        }
        guard !known.isEmpty else { return [:] }
        let query = PostgresQuery(
            "orders.classes_by_number",
            "select * from storehook.order_classes where id = any (\(Array(known.values)))")
        var numbers: [OrderClass: Int32] = [:]
        for row in try session.query(query.keepingPlan()) {
            let (kind, number) = (try OrderClass(row), try row.decode("id", as: Int32.self))
            if known[kind] == number { numbers[kind] = number }
        }
        if numbers.count < known.count { classes.withLock { $0.removeAll() } }
        return numbers
    }
}

extension PostgresQuery {
    fileprivate static func classes(_ classes: [OrderClass]) -> PostgresQuery {
        PostgresQuery(
            "orders.classes",
            """
            with wanted as materialized (
                select * from unnest(
                    \(classes.map(\.environment)), \(classes.map(\.bundleID)), \(classes.map(\.productID)),
                    \(classes.map(\.plan)), \(classes.map(\.status)), \(classes.map(\.currency)),
                    \(classes.map(\.storefront)))
                    with ordinality as w (environment, bundle_id, product_id, plan_type, status, currency, storefront, n)
            ), known as materialized (
                select c.* from wanted
                  join storehook.order_classes c
                       using (environment, bundle_id, product_id, plan_type, status, currency, storefront)
            ), added as (
                insert into storehook.order_classes
                       (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                select environment, bundle_id, product_id, plan_type, status, currency, storefront from wanted w
                 where not exists (
                       select from known k
                        where (k.environment, k.bundle_id, k.product_id, k.plan_type, k.status, k.currency, k.storefront)
                              = (w.environment, w.bundle_id, w.product_id, w.plan_type, w.status, w.currency, w.storefront))
                 order by n
                    on conflict do nothing
                returning *
            )
            select known.*, false as is_new from known union all select added.*, true from added
            """
        ).keepingPlan()
    }
}
