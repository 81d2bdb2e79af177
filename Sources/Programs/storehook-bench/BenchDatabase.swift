import ArgumentParser
import EvidenceStore
import Foundation
import Logging
import Postgres
import Schema

/// A database of the measurement's own on the server that `DATABASE_URL` names, dropped afterwards.
struct BenchDatabase: Sendable {
    let url: String
    let pool: PostgresPool
    let name: String
    private let server: String

    /// - Parameters:
    ///   - suffix: distinguishes this measurement's databases from others.
    ///   - server: another server than that of `DATABASE_URL`.
    ///   - isMigrated: whether it has the schema already, this program's.
    static func with<T>(
        named suffix: String = "one", on server: String? = nil, isMigrated: Bool = true,
        _ body: (BenchDatabase) async throws -> T
    ) async throws -> T {
        guard let server = server ?? ProcessInfo.processInfo.environment["DATABASE_URL"], !server.isEmpty else {
            throw ValidationError("DATABASE_URL must name a server on which a database may be created")
        }
        let name = "storehook_bench_\(ProcessInfo.processInfo.processIdentifier)_\(suffix)"
        let logger = Logger(label: "storehook-bench") { _ in SwiftLogNoOpLogHandler() }
        try await administer(server, "create database \(name)", logger)
        do {
            let url = Self.url(server, database: name)
            let pool = PostgresPool(configuration: try PostgresConfiguration(url: url), size: 2, logger: logger)
            if isMigrated {
                _ = try await Migrator(migrations: Schema.migrations).migrate(on: pool)
                try await Outbox(pool).ensurePartitions()
            }
            let result = try await body(BenchDatabase(url: url, pool: pool, name: name, server: server))
            await pool.close()
            try await administer(server, "drop database \(name) with (force)", logger)
            return result
        } catch {
            try? await administer(server, "drop database \(name) with (force)", logger)
            throw error
        }
    }

    /// The same server, another database.
    private static func url(_ server: String, database: String) -> String { server.with("dbname", database) }

    /// On a new connection each time: the measurement in between may stop the server. Completes even if the measurement
    /// is interrupted.
    private static func administer(_ server: String, _ statement: String, _ logger: Logger) async throws {
        let configuration = try PostgresConfiguration(url: server)
        try await Task {
            let admin = try await PostgresConnection.connect(to: configuration, logger: logger)
            do {
                try await admin.query(
                    PostgresQuery(unescaped: statement, name: "bench.administer"), deadline: .seconds(60))
                await admin.close()
            } catch {
                await admin.close()
                throw error
            }
        }.value
    }

    /// Runs a statement about databases, from outside of this one.
    func administer(_ statement: String) async throws {
        try await Self.administer(server, statement, Logger(label: "storehook-bench") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Bytes of WAL written so far.
    func walBytes() async throws -> Int64 {
        try await pool.query("select (pg_current_wal_lsn() - '0/0')::bigint").one().decode(0)
    }

    /// Bytes that everything in the schema takes on disk, indexes and TOAST included.
    func tableBytes() async throws -> Int64 {
        try await pool.query(
            """
            select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
              from pg_class c where c.relnamespace = 'storehook'::regnamespace and c.relkind = 'r'
            """
        ).one().decode(0)
    }

    /// Turns autovacuum off for what is measured: it runs once a minute, so it would hit one of two runs and not the
    /// other. ``vacuum()`` does its work instead, and each run pays for its own share.
    func keepAutovacuumAway() async throws {
        try await pool.query(
            """
            do $$
            declare
                name text;
            begin
                for name in select oid::regclass from pg_class
                             where relnamespace = 'storehook'::regnamespace and relkind = 'r' loop
                    execute 'alter table ' || name
                         || ' set (autovacuum_enabled = off, toast.autovacuum_enabled = off)';
                end loop;
            end
            $$
            """)
    }

    /// Vacuums and analyzes all tables, as autovacuum would have.
    func vacuum() async throws {
        let tables: String = try await pool.query(
            """
            select string_agg(oid::regclass::text, ', ') from pg_class
             where relnamespace = 'storehook'::regnamespace and relkind = 'r'
            """
        ).one().decode(0)
        try await pool.query(
            PostgresQuery(unescaped: "vacuum (analyze) \(tables)", name: "bench.vacuum"), deadline: .seconds(600))
    }

    /// CPU seconds that the server's processes have used so far, those that ended included; nil where they run on another
    /// machine.
    func serverCPUSeconds() async throws -> Double? {
        let backend: Int32 = try await pool.query("select pg_backend_pid()").one().decode(0)
        guard let server = ProcessTimes.parent(of: backend) else { return nil }
        return ProcessTimes.familyCPUSeconds(of: server)
    }

    /// The server's processes now; none where they run on another machine.
    func serverProcesses() async throws -> [Int32] {
        let backend: Int32 = try await pool.query("select pg_backend_pid()").one().decode(0)
        guard let server = ProcessTimes.parent(of: backend) else { return [] }
        return ProcessTimes.children(of: server) + [server]
    }

    /// What the server would not do in production makes figures of commits worthless.
    func requireDurableCommits() async throws {
        for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
            let value: String = try await pool.query("select current_setting(\(setting))").one().decode(0)
            guard value == "on" else {
                throw ValidationError("the server has \(setting) = \(value); measure on one that has it on")
            }
        }
    }
}

extension String {
    /// A connection string with this parameter: of a name given twice, libpq takes the last.
    func with(_ parameter: String, _ value: String) -> String {
        guard contains("://") else { return "\(self) \(parameter)=\(value)" }
        return self + (contains("?") ? "&" : "?") + "\(parameter)=\(value)"
    }
}
