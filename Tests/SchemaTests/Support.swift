import Foundation
import Postgres
import Schema
import TestSupport

/// A migrated database without partitions, and one connection to it.
func withSchema<T: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (PostgresConnection, TestDatabase) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations) { database in
        let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
        do {
            let value = try await body(connection, database)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }
}

extension PostgresConnection {
    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await self.query(query).one().decode(0)
    }

    /// The constraint or the SQLSTATE by which the server refuses a statement; nil if it does not.
    func refusal(of sql: String) async -> String? {
        do {
            try await query(PostgresQuery(unescaped: sql))
            return nil
        } catch {
            let error = error as? PostgresError
            return error?.constraint ?? error?.sqlState?.rawValue ?? "\(String(describing: error))"
        }
    }
}
