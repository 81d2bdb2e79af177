import AppStorePayloads
package import Base
import Postgres

extension Outbox {
    /// The apps and roots that workers on this database have served, from the first worker on.
    package func served() async throws -> ServedApps {
        try ServedApps(apps: await pool.query(.servedApps), roots: await pool.query(.servedRoots))
    }

    /// Records what a worker serves from now on, unless it contradicts what is served already.
    ///
    /// Of two workers that start together one sees the other: the transaction is serializable, and the one that
    /// PostgreSQL rejects looks again. A lock would do as well, but any login may hold an advisory one, and a worker
    /// lacks the rights for one on the table.
    /// - Returns: the contradiction; then nothing was added.
    @discardableResult
    package func record(_ own: ServedApps) async throws -> (purchases: Environment, homemade: Environment)? {
        var failures = 0
        while true {
            do {
                return try await recordOnce(own)
            } catch let error as PostgresError
                where error.sqlState == .serializationFailure && failures < Self.recordRetries
            {
                failures += 1
                try await Task.sleep(for: RetrySchedule.reconnecting.pause(afterFailures: failures))
            }
        }
    }

    private func recordOnce(_ own: ServedApps) async throws -> (purchases: Environment, homemade: Environment)? {
        let options = TransactionOptions(isolation: .serializable, name: "outbox.record_served")
        return try await pool.withTransaction(options) { session in
            var all = try ServedApps(apps: session.query(.servedApps), roots: session.query(.servedRoots))
            all.apps.formUnion(own.apps)
            if let contradiction = all.contradiction { return contradiction }
            try session.query(.record(own.apps))
            try session.query(.record(own.roots))
            return nil
        }
    }

    private static let recordRetries = 20
}

extension ServedApps {
    fileprivate init(apps: PostgresRows, roots: PostgresRows) throws {
        self.init(
            apps: try Set(apps.map { App(try $0.decode(1), in: Environment(rawValue: try $0.decode(0))) }),
            roots: try Set(roots.map { Root(try $0.decode(1), for: Environment(rawValue: try $0.decode(0))) }))
    }
}

extension PostgresQuery {
    fileprivate static let servedApps = PostgresQuery(
        "outbox.served_apps", "select environment, bundle_id from storehook.served_apps")
    fileprivate static let servedRoots = PostgresQuery(
        "outbox.served_roots", "select environment, fingerprint from storehook.served_roots")

    fileprivate static func record(_ apps: Set<ServedApps.App>) -> PostgresQuery {
        let apps = Array(apps)
        return PostgresQuery(
            "outbox.record_apps",
            """
            insert into storehook.served_apps (environment, bundle_id)
            select * from unnest(\(apps.map(\.environment.rawValue)), \(apps.map(\.bundleID))) as a (environment, bundle_id)
             order by bundle_id, environment
                on conflict (bundle_id, environment) do update set last_served = now()
            """)
    }

    fileprivate static func record(_ roots: Set<ServedApps.Root>) -> PostgresQuery {
        let roots = Array(roots)
        return PostgresQuery(
            "outbox.record_roots",
            """
            insert into storehook.served_roots (environment, fingerprint)
            select * from unnest(\(roots.map(\.environment.rawValue)), \(roots.map(\.fingerprint)))
                on conflict do nothing
            """)
    }
}
