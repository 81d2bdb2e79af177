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
            return try await error(of: sql).map { $0.constraint ?? $0.sqlState?.rawValue ?? "\($0)" }
        } catch {
            return "\(error)"
        }
    }

    /// What the server says against a statement; nil if it takes it.
    func error(of sql: String) async throws -> PostgresError? {
        do {
            try await query(PostgresQuery(unescaped: sql))
            return nil
        } catch let error as PostgresError {
            return error
        }
    }
}
