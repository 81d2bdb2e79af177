import Postgres
import TestSupport

/// A database of the test's own and one connection to it.
func withConnection<T: Sendable>(
    adjusting adjust: (inout PostgresConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (PostgresConnection) async throws -> T
) async throws -> T {
    try await withTestDatabase { database in
        var configuration = database.configuration
        adjust(&configuration)
        let connection = try await PostgresConnection.connect(to: configuration, logger: quiet)
        let value = try await body(connection)
        await connection.close()
        return value
    }
}

/// The error that `body` ends with, if it is this target's own.
func failure(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> PostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

/// Returns once a statement that contains `marker` is under way in the database that `observer` looks at.
func untilRunning(_ marker: String, observer: PostgresConnection) async throws {
    while true {
        let rows = try await observer.query(
            """
            select 1 from pg_stat_activity
            where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
                and position(\(marker) in query) > 0 and wait_event is not null
            """)
        if !rows.isEmpty { return }
    }
}
