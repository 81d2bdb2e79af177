import Glibc
import Logging
import Postgres

/// A PostgreSQL server of one cell's own.
struct ChaosCluster: Sendable {
    /// Where it listens on this machine.
    let port: Int
    let program: SupervisedProgram

    /// Its database `postgres`.
    var url: String { "postgresql://storehook@127.0.0.1:\(port)/postgres" }

    /// Waits until it answers.
    func untilReady() async throws {
        try await patiently("a server of the cell's own answers", within: .seconds(60)) {
            try await query("select 1")
            return true
        }
    }

    /// Runs one statement on a connection of its own.
    @discardableResult
    func query(_ statement: PostgresQuery) async throws -> PostgresRows {
        let connection = try await connect()
        do {
            let rows = try await connection.query(statement, deadline: .seconds(60))
            await connection.close()
            return rows
        } catch {
            await connection.close()
            throw error
        }
    }

    func connect() async throws -> PostgresConnection {
        try await PostgresConnection.connect(
            to: PostgresConfiguration(url: url), logger: Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Ends it for good, as the loss of its machine would: no farewell, no checkpoint.
    func kill() async { await program.stop(asking: SIGQUIT) }
}
