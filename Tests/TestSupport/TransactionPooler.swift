import Foundation
import Glibc
import Logging
import Postgres

/// A real pgbouncer in transaction mode before a test's database: each transaction may run in another server session.
public final class TransactionPooler: Sendable {
    /// The database's connection string by way of the pooler.
    public let url: String
    private let program: ChildProgram

    /// Starts one.
    /// - Parameter sessions: how many sessions it holds on the server, for however many clients.
    public static func start(before database: TestDatabase, sessions: Int) async throws -> TransactionPooler {
        let pooler = try await TransactionPooler(database, sessions: sessions)
        do {
            try await eventually("pgbouncer is up") {
                if let ending = pooler.program.ending {
                    throw NeverHappened("pgbouncer's start: \(ending) \(pooler.log)")
                }
                return pooler.log.contains("process up")
            }
            return pooler
        } catch {
            await pooler.stop()
            throw error
        }
    }

    /// What it has said so far.
    public var log: String { program.errors }

    /// Ends it.
    public func stop() async { await program.discard() }

    private init(_ database: TestDatabase, sessions: Int) async throws {
        // Between this moment and pgbouncer's start another may take the port; then it says so and ends.
        let (socket, port) = try TCPSocket.listening(port: 0)
        socket.close()
        var line = "\(database.name) = dbname=\(database.name) \(try await Self.place(of: database))"
        if let components = URLComponents(string: database.url), let user = components.user {
            line += " user=\(user)" + (components.password.map { " password=\($0)" } ?? "")
        }
        let settings = """
            [databases]
            \(line)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = 200
            """
        // It refuses to be root, and reads its settings before it changes its user.
        program = try ChildProgram(
            "/usr/sbin/pgbouncer", (geteuid() == 0 ? ["-u", "nobody"] : []) + ["/dev/stdin"],
            environment: ["PATH": "/usr/bin:/bin"], input: Array(settings.utf8))
        url = "postgresql://any@127.0.0.1:\(port)/\(database.name)?sslmode=disable"
    }

    /// Where the server is, which it knows best itself.
    private static func place(of database: TestDatabase) async throws -> String {
        var logger = Logger(label: "test-pooler")
        logger.logLevel = .error
        let connection = try await PostgresConnection.connect(to: database.configuration, logger: logger)
        let rows = try await connection.query(
            """
            select 'host=' || coalesce(host(inet_server_addr()),
                                       split_part(current_setting('unix_socket_directories'), ',', 1))
                   || ' port=' || current_setting('port')
            """)
        await connection.close()
        return try rows.one().decode(0)
    }
}
