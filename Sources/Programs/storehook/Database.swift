import Logging
import Operations
import Postgres
import Schema

/// Opening the database, and refusing one whose schema does not fit.
enum Database {
    /// Runs `body` with a pool of connections to a database whose schema fits this binary, and closes it.
    static func with<T>(
        _ settings: Settings, size: Int = 1, _ body: (PostgresPool) async throws -> T
    ) async throws -> T {
        let pool = try open(settings, size: size)
        do {
            try await requireCurrentSchema(pool)
            let result = try await body(pool)
            await pool.close()
            return result
        } catch {
            await pool.close()
            throw error
        }
    }

    static func open(_ settings: Settings, size: Int) throws -> PostgresPool {
        PostgresPool(configuration: try settings.database(), size: size, logger: try settings.logger("postgres"))
    }

    static func migrator() throws -> Migrator {
        try Migrator(migrations: Schema.migrations, oldestFitting: Schema.oldestFitting)
    }

    /// A binary works with the schemas of its range and no other.
    static func requireCurrentSchema(_ pool: PostgresPool) async throws {
        let state = try await migrator().check(on: pool)
        if let misfit = misfit(state) { throw misfit }
    }

    /// A program that answers others starts while the database is unavailable, and answers 503 until it is back with a schema that
    /// fits; on the wrong schema it does not start.
    /// - Returns: whether the schema was seen to fit.
    static func requireSchemaIfReachable(_ pool: PostgresPool) async throws -> Bool {
        do {
            try await requireCurrentSchema(pool)
            return true
        } catch let error as PostgresError where error.isTransient {
            StandardError.line("storehook: the database is unavailable, answering 503 until it is back: \(error)")
            return false
        }
    }

    static func misfit(_ state: SchemaState) -> CommandFailure? {
        state.misfit.map { CommandFailure($0, status: .schemaMismatch) }
    }
}
