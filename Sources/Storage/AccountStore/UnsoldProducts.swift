package import Accounts
package import Base
package import Postgres

/// A product that customers hold and that a catalog lacks: they paid, and get nothing.
package struct UnsoldProduct: Sendable, Hashable, Comparable {
    /// Apple's name of the environment.
    package var environment: String
    /// The app.
    package var bundleID: String
    /// Apple's id of the product.
    package var productID: String

    /// A product.
    package init(environment: String, bundleID: String, productID: String) {
        self.environment = environment
        self.bundleID = bundleID
        self.productID = productID
    }

    /// Production first: there customers pay.
    package static func < (a: UnsoldProduct, b: UnsoldProduct) -> Bool {
        (a.environment, a.bundleID, a.productID) < (b.environment, b.bundleID, b.productID)
    }
}

extension AccountStore {
    /// The products that customers hold now and that a catalog lacks, in order.
    /// Reads a row for each product that is sold, whatever the number of purchases; after so many products it stops.
    package func unsold(under catalog: Catalog, limit: Int = 1000) async throws -> [UnsoldProduct] {
        let keys = catalog.productKeys
        return try await pool.query(
            PostgresQuery(
                "catalog.unsold",
                """
                select environment, bundle_id, product_id
                  from storehook.purchased_products
                 where held_until > now() and bundle_id || ' ' || product_id <> all (\(keys))
                 order by environment, bundle_id, product_id
                 limit \(limit)
                """)
        ).map { row in
            UnsoldProduct(
                environment: try row.decode(0), bundleID: try row.decode(1), productID: try row.decode(2))
        }
    }

    /// Writes the products of the current catalog beside it, where an earlier release applied it and did not.
    /// - Returns: whether they were missing.
    /// - Throws: `PostgresError`. A catalog that this release cannot read is left as it is.
    @discardableResult
    package func listProducts() async throws -> Bool {
        let row = try await pool.query(
            PostgresQuery(
                "catalog.unlisted",
                """
                select c.version, c.source
                  from storehook.catalog_state s join storehook.catalogs c on c.version = s.current_version
                 where c.product_keys is null
                """)
        ).first
        guard let row, let catalog = try? Catalog(yaml: row.decode(1, as: String.self)) else { return false }
        try await pool.query(
            PostgresQuery(
                "catalog.list_products",
                """
                update storehook.catalogs set product_keys = \(catalog.productKeys)
                 where version = \(try row.decode(0, as: Int64.self)) and product_keys is null
                """))
        return true
    }
}

/// How many products customers hold that the current catalog lacks.
package struct UnsoldProducts: MonitoredStore {
    private let pool: PostgresPool

    /// Those of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// See ``counts()``.
    package static let monitored = "unsold_products"

    /// One an app and environment that has any.
    package func samples() async throws -> [MetricSample] {
        try await counts().map { MetricSample("storehook_unsold_products", $0.scope.labels, Double($0.count)) }
    }

    /// How many there are, by app and environment.
    package func counts() async throws -> [(scope: AppEnvironment, count: Int64)] {
        try await pool.query(
            PostgresQuery(
                "catalog.unsold_counts",
                """
                select bundle_id, environment, count(*) from storehook.unsold_products group by 1, 2 order by 1, 2
                """)
        ).map { row in
            (AppEnvironment(bundleID: try row.decode(0), environment: try row.decode(1)), try row.decode(2))
        }
    }

    /// The first of them, and whether the current catalog's products are known at all: an earlier release that applied it did not
    /// write them down.
    package func first(_ limit: Int) async throws -> (products: [UnsoldProduct], isListed: Bool) {
        let products = try await pool.query(
            PostgresQuery(
                "catalog.unsold_first",
                """
                select environment, bundle_id, product_id from storehook.unsold_products
                 order by environment, bundle_id, product_id limit \(limit)
                """)
        ).map { row in
            UnsoldProduct(
                environment: try row.decode(0), bundleID: try row.decode(1), productID: try row.decode(2))
        }
        guard products.isEmpty else { return (products, true) }
        do {
            let isUnlisted: Bool = try await pool.query(
                PostgresQuery(
                    "catalog.is_unlisted",
                    """
                    select exists (select from storehook.catalog_state s join storehook.catalogs c on c.version = s.current_version
                                    where c.product_keys is null)
                    """)
            ).one().decode(0)
            return ([], !isUnlisted)
        } catch let error as PostgresError where error.sqlState == "42501" {
            return ([], true)
        }
    }
}

extension Catalog {
    /// Of each product its app and Apple's id, with a space between, as `storehook.catalogs` has them.
    var productKeys: [String] { products.map { "\($0.bundleID) \($0.productID)" } }
}
