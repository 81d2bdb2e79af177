import Foundation
import Logging
import Postgres
import Synchronization

/// The server that tests run against, and the names of this process's databases on it.
///
/// A process holds an advisory lock for as long as it lives. Databases whose process has gone without dropping them are
/// therefore known by their lock being free, and the next process drops them.
final class TestServer: Sendable {
    private static let instance = Task { try await TestServer() }
    private static let databases = Task {
        let server = try await instance.value
        return DatabaseSupply(
            make: { try await server.create(from: $0) }, remove: { try await server.drop($0) })
    }
    private static let prefix = "storehook_test_"

    private let url: String
    private let pool: PostgresPool
    /// Holds the lock; closed by the process's end.
    private let holder: PostgresConnection
    private let token: Int64
    private let lastNumber = Atomic(0)

    /// Where this process's tests have their databases from.
    static func supply() async throws -> DatabaseSupply { try await databases.value }

    private init() async throws {
        guard let url = ProcessInfo.processInfo.environment["STOREHOOK_TEST_DATABASE_URL"], !url.isEmpty else {
            throw TestServerMissing()
        }
        self.url = url
        var logger = Logger(label: "test-server")
        logger.logLevel = .error
        let configuration = try PostgresConfiguration(url: url)
        pool = PostgresPool(configuration: configuration, size: 4, logger: logger)
        holder = try await PostgresConnection.connect(to: configuration, logger: logger)
        token = Int64.random(in: 1...Int64.max)
        try await holder.query("select pg_advisory_lock(\(token))::text")
        try await dropOrphans()
    }

    func create(from template: TestTemplate?) async throws -> TestDatabase {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let name = "\(Self.prefix)\(String(token, radix: 16))_\(number)"
        let source = try await template?.database(on: self).name ?? "template0"
        try await pool.query(
            "create database \(unescaped: name) template \(unescaped: source) strategy file_copy",
            deadline: .seconds(60))
        let separator = url.contains("?") ? "&" : "?"
        return TestDatabase(
            name: name,
            url: url.contains("://") ? "\(url)\(separator)dbname=\(name)" : "\(url) dbname=\(name)",
            configuration: try PostgresConfiguration(url: url).withDatabase(name))
    }

    func drop(_ database: TestDatabase) async throws {
        try await pool.query("drop database if exists \(unescaped: database.name) with (force)", deadline: .seconds(60))
    }

    private func dropOrphans() async throws {
        let pattern = Self.prefix.replacing("_", with: "\\_") + "%"
        let names = try await pool.query("select datname from pg_database where datname like \(pattern)")
        for row in names {
            let name = try row.decode(0, as: String.self)
            let parts = name.dropFirst(Self.prefix.count).split(separator: "_")
            guard let owner = parts.first.flatMap({ Int64($0, radix: 16) }), owner != token else { continue }
            let isOrphan = try await holder.query("select pg_try_advisory_lock(\(owner))")
            guard try isOrphan.first?.decode(0, as: Bool.self) == true else { continue }
            try await pool.query("drop database if exists \(unescaped: name) with (force)", deadline: .seconds(60))
            try await holder.query("select pg_advisory_unlock(\(owner))")
        }
    }
}

/// There is no server to test against.
struct TestServerMissing: Error, CustomStringConvertible {
    var description: String {
        "STOREHOOK_TEST_DATABASE_URL is not set: run deploy/test, which starts a server, or set it to a superuser's URL"
    }
}
