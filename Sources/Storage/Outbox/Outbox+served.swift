import AppStorePayloads
import Postgres

extension Outbox {
    /// Whom workers on this database have served, from the first one on.
    package func served() async throws -> Served {
        let apps = try await pool.query(
            PostgresQuery("outbox.served_apps", "select environment, bundle_id from storehook.served_apps"))
        let roots = try await pool.query(
            PostgresQuery("outbox.served_roots", "select environment, fingerprint from storehook.served_roots"))
        return try Served(
            apps: Set(apps.map { Served.App(try $0.decode(1), in: Environment(rawValue: try $0.decode(0))) }),
            roots: Set(roots.map { Served.Root(try $0.decode(1), for: Environment(rawValue: try $0.decode(0))) }))
    }

    /// Adds whom a worker serves.
    package func record(_ served: Served) async throws {
        let (apps, roots) = (Array(served.apps), Array(served.roots))
        try await pool.query(
            PostgresQuery(
                "outbox.record_apps",
                """
                insert into storehook.served_apps (environment, bundle_id)
                select * from unnest(\(apps.map(\.environment.rawValue)), \(apps.map(\.bundleID)))
                    on conflict do nothing
                """))
        try await pool.query(
            PostgresQuery(
                "outbox.record_roots",
                """
                insert into storehook.served_roots (environment, fingerprint)
                select * from unnest(\(roots.map(\.environment.rawValue)), \(roots.map(\.fingerprint)))
                    on conflict do nothing
                """))
    }
}
